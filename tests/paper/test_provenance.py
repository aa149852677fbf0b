"""A record names the code that it was made with."""

from albert_paper import provenance


def test_a_commit_with_changed_code_has_a_plus(monkeypatch):
    monkeypatch.delenv("ALBERT_EDU_COMMIT", raising=False)
    for changed, plus in (("", ""), (" M albert_edu/batch.py", "+")):
        monkeypatch.setattr(
            provenance, "git", lambda *words, said=changed: said if "status" in words else "abc"
        )
        assert provenance.commit() == f"abc{plus}"
