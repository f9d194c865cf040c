"""What people do with Accord, one verb a file and one word a file."""
