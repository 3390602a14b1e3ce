from modeclust.data import machine


def test_memory_is_at_most_that_of_the_machine(monkeypatch, tmp_path):
    whole = machine.memory()
    assert 2**28 < whole < 2**63
    (tmp_path / "memory.max").write_text("max\n")
    monkeypatch.setattr(machine, "CONTROL_GROUPS", tmp_path)
    assert machine.memory() >= whole
    (tmp_path / "memory.max").write_text("12345678\n")
    assert machine.memory() == 12345678
