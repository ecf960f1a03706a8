"""What the child tells: steps, counts now and then, and of an unexpected exception nothing that it says."""

import io

import pytest

from querycloak.errors import InputError
from querycloak.studio.bench import Bench
from querycloak.studio.messages import ANSWERS, Count, Failed, Log, LookOrder, Note, Step
from querycloak.studio.worker import LONGEST, MOST_NOTES, PipeProgress, _answer

ORDER = LookOrder(Log("/nowhere/log.tsv", 0, 0.0))
SECRET = "who is ann miller"


@pytest.fixture
def sink():
    return io.BytesIO()


def sent(sink):
    return [ANSWERS.decode(line) for line in sink.getvalue().splitlines()]


class Breaking(Bench):
    def __init__(self, error):
        super().__init__(PipeProgress(io.BytesIO()))
        self.error = error
        self.forgot = False

    def do(self, order):
        raise self.error

    def forget(self):
        self.forgot = True


@pytest.mark.parametrize(
    "error", [ValueError(SECRET), KeyError(SECRET), AssertionError(SECRET), RecursionError(SECRET)]
)
def test_an_unexpected_exception_is_told_without_its_text(error):
    answer = _answer(Breaking(error), ORDER)
    assert isinstance(answer, Failed)
    assert SECRET not in answer.error
    assert type(error).__name__ in answer.error
    assert "test_worker.py, line" in answer.error
    assert "\n" not in answer.error


def test_an_error_of_the_disk_is_told_without_paths():
    answer = _answer(Breaking(OSError(28, "No space left on device", f"/logs/{SECRET}")), ORDER)
    assert answer == Failed("A file could not be read or written: no space left on device.")


def test_too_little_memory_is_one_sentence_and_the_log_is_forgotten():
    bench = Breaking(MemoryError(SECRET))
    answer = _answer(bench, ORDER)
    assert "not enough memory" in answer.error
    assert bench.forgot


def test_what_the_user_can_fix_is_told_as_it_is():
    assert _answer(Breaking(InputError.at("log.tsv", "it is empty")), ORDER) == Failed("log.tsv: it is empty.")


def test_a_log_that_is_gone_is_told():
    answer = _answer(Bench(PipeProgress(io.BytesIO())), ORDER)
    assert answer == Failed("log.tsv: the log is not there any more.")


def test_counts_are_sent_now_and_then(sink):
    progress = PipeProgress(sink)
    progress.start("attack", 100_000)
    for _ in range(100_000):
        progress.advance()
    counts = [message.done for message in sent(sink) if isinstance(message, Count)]
    assert sent(sink)[0] == Step("attack", 100_000)
    assert 1 <= len(counts) < 1000
    assert counts == sorted(counts)


def test_a_new_step_counts_from_nothing(sink):
    progress = PipeProgress(sink)
    progress.advance(7)
    progress.start("next")
    progress._sent = 0.0
    progress.advance(2)
    assert sent(sink) == [Count(7), Step("next", None), Count(2)]


def test_notes_are_limited(sink):
    progress = PipeProgress(sink)
    for _ in range(MOST_NOTES + 50):
        progress.note("x" * 10_000)
    assert len(sent(sink)) == MOST_NOTES
    assert sent(sink)[0] == Note("x" * LONGEST)
