"""``bmo eval read --retrieval``: what is found for questions by others, beside other methods."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from bmo.evaluation.retrieval import Ranking
    from bmo.index import Embedder


def show_retrieval(corpora: Path, embedder: Embedder, *, as_json: bool) -> None:
    """Stores the memories of others, asks for them, and prints what was found.

    Args:
        corpora: Folder with the lines.
        embedder: Of the index.
        as_json: One JSON object instead of a table.

    Raises:
        CorpusMissing: A file is not there.
    """
    from bmo.evaluation.retrieval import locomo, precision_mem_bench

    with TemporaryDirectory(prefix="bmo-retrieval-") as folder:
        home = Path(folder)
        parts = {
            "precisionMemBench, texts alone": precision_mem_bench(corpora, home / "a", embedder),
            "precisionMemBench, all that its rows tell": precision_mem_bench(
                corpora, home / "b", embedder, told=True
            ),
            "LoCoMo, first 10": locomo(corpora, home / "c", embedder),
        }
    console = Console()
    if as_json:
        rows = {name: {r.name: _row(r) for r in found} for name, found in parts.items()}
        console.print_json(json.dumps(rows))
        return
    table = Table(title="retrieval", title_justify="left")
    for column in ("data", "method", "precision", "recall", "empty kept empty"):
        table.add_column(column)
    for name, found in parts.items():
        for ranking in found:
            row = _row(ranking)
            kept, empty = row["empty_kept"], row["empty"]
            table.add_row(
                name,
                ranking.name,
                f"{row['precision']:.3f}",
                f"{row['recall']:.3f}",
                f"{kept:.0f} of {empty:.0f}" if empty else "",
            )
    console.print(table)


def _row(ranking: Ranking) -> dict[str, float]:
    from bmo.evaluation.retrieval import mean

    return {
        "precision": mean(ranking.precision),
        "recall": mean(ranking.recall),
        "empty_kept": float(sum(ranking.empty)),
        "empty": float(len(ranking.empty)),
    }
