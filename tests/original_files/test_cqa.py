"""SemEval XML, against the prepared files."""

import pytest

from accord.data.corpora import cqa as prepared
from accord.errors import InputError
from original_files import cqa


@pytest.mark.corpora
def test_threads_equal_the_prepared_ones(accord_data):
    parts = cqa.load_raw(accord_data)
    assert set(parts) == {"2015/dev", "2015/test", "2016/dev"}  # the README: what the archive holds
    for name, threads in parts.items():
        ready = prepared.load_raw(name, accord_data)
        for post in (post for thread in ready for post in (thread, *thread["comments"])):
            post.pop("body_raw", None)  # comes from another file
        assert threads == ready


def test_a_broken_file_is_refused():
    with pytest.raises(InputError, match="must be the XML of SemEval"):
        cqa.parse("x.xml", b"<root><Question></root>")
    with pytest.raises(InputError, match="it has none"):
        cqa.parse("x.xml", b"<root></root>")
    with pytest.raises(InputError, match="must be the XML of SemEval"):
        cqa.parse("x.xml", b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><root>&a;</root>')
