"""The REST interface: everything the pages do, for programs."""
