import re
from pathlib import Path


def test_the_example_of_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "generated-logs.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names = {}
    exec(example, names)
    assert int(names["made"].log.event.sum()) == 5_000
