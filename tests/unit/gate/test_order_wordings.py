"""One order in the many ways it is said, in four languages, and what only sounds like it."""

from __future__ import annotations

import pytest

from bmo.gate.orders import read_order
from bmo.memory.wishes import keeps_nothing

pytestmark = pytest.mark.unit

NEVER_BROUGHT_UP = [
    ("nunca me vuelvas a mencionar a mi hermana Meche", "mi hermana Meche"),
    ("nunca más me hables de mi ex", "mi ex"),
    ("hágame el favor de no hablarme de política", "política"),
    ("no me vuelva a hablar de mi suegra", "mi suegra"),
    ("ya no me hables de mi ex por favor", "mi ex"),
    ("no vuelvas a mencionar a mi papá", "mi papá"),
    ("no me mencione a Meche nunca más", "Meche"),
    ("no quiero que me hables de Meche", "Meche"),
    ("no quiero hablar de mi divorcio", "mi divorcio"),
    ("jamás me hables de mi hermana", "mi hermana"),
    ("no saques el tema del dinero", "dinero"),
    ("no me digas nada de mi hermana", "mi hermana"),
    ("deja de hablarme de fútbol", "fútbol"),
    ("por favor nunca menciones a mi hermana", "mi hermana"),
    ("ne me parle plus jamais de mon ex", "mon ex"),
    ("me parle plus de mon ex", "mon ex"),
    ("ne me parlez plus de mon mari", "mon mari"),
    ("merci de ne plus me parler de Julien", "Julien"),
    ("ne plus me parler de Julien", "Julien"),
    ("je ne veux plus que tu me parles de Julien", "Julien"),
    ("je veux plus entendre parler de Julien", "Julien"),
    ("n'évoquez plus mon divorce", "mon divorce"),
    ("ne mentionne jamais ma soeur", "ma soeur"),
    ("arrêtez de me parler de politique", "politique"),
    ("plus un mot sur mon ex", "mon ex"),
    ("évite de me parler de ma mère", "ma mère"),
    ("rappelle pas mon ex", "mon ex"),
    ("sprich mich nie wieder auf den Murat an", "den Murat"),
    ("sprechen Sie mich bitte nie mehr auf meine Schwester an", "meine Schwester"),
    ("red nimmer vom Murat", "Murat"),
    ("reden Sie nicht mehr über meinen Mann", "meinen Mann"),
    ("erwähnen Sie meine Scheidung nicht mehr", "meine Scheidung"),
    ("erwähn den Murat nie wieder", "den Murat"),
    ("ich will nix mehr vom Murat hörn", "Murat"),
    ("ich möchte über meine Scheidung nicht mehr reden", "meine Scheidung"),
    ("über meinen Ex will ich nichts mehr hören", "meinen Ex"),
    ("fang nicht wieder mit meiner Schwester an", "meiner Schwester"),
    ("bitte red ned vom Fußball", "Fußball"),
    ("kein Wort mehr über Murat", "Murat"),
    ("das Thema Murat ist tabu", "Murat"),
    ("don't ever mention my sister again", "my sister"),
    ("i don't want you to mention my sister", "my sister"),
    ("can we not talk about my ex", "my ex"),
    ("i never want to hear about my ex again", "my ex"),
    ("don't say anything about my brother", "my brother"),
    ("quit talking about my diet", "my diet"),
    ("please never bring my brother up", "my brother"),
    ("never mention rod to me again", "rod"),
    (
        "sprich bitte nie meinen Bruder Ulrich an, wir reden seit Jahren nicht mehr",
        "meinen Bruder Ulrich",
    ),
    ("dave and i split up in may so please never bring him up", "dave"),
    ("my sister and i fell out in june, please dont mention her", "sister"),
]

NO_ORDER = [
    "no me hables tan rápido",
    "no hables en inglés",
    "nunca hablo de mi ex",
    "mi hermana nunca me habla de su trabajo",
    "nunca me digas mentiras",
    "no me digas que llueve",
    "no quiero hablar contigo",
    "nunca saques la basura tarde",
    "parle-moi plus de ton travail",
    "ne parle pas trop vite",
    "ne me parle pas en anglais",
    "mon fils ne me parle plus de l'école",
    "on ne parle jamais de politique chez nous",
    "rappelle-moi pas à pas la recette",
    "rappelle-moi d'appeler maman",
    "sprich nicht so schnell",
    "sprich nicht mit vollem Mund",
    "red nicht mit mir auf Englisch",
    "wir reden nie über Politik",
    "mein Bruder redet nicht mehr mit mir",
    "erzähl mir nicht immer das Gleiche",
    "ich will nicht auf den Murat warten",
    "fang nicht ohne mich an",
    "fang nicht mit dem Kochen an",
    "ich mag nicht von Berlin nach Nürnberg fahren",
    "i don't want you to talk so fast",
    "our rule at table is, never talk about work",
    "he said please never mention the war",
    "she left in may so she never mentions it",
    "can you stop talking",
    "my sister never mentions our dad",
    "don't tell me a joke",
    "can you mention my sister in the speech",
    "prefiero que me hables de usted",
    "sugar is taboo in our house",
    "nuts are off limits",
    "saca el tema de mi hermana",
]


@pytest.mark.parametrize(("said", "what"), NEVER_BROUGHT_UP)
def test_never_to_bring_it_up(said: str, what: str) -> None:
    order = read_order(said)
    assert order is not None
    assert (order.kind, order.what) == ("withhold", what)


@pytest.mark.parametrize("said", NO_ORDER)
def test_its_twin_withholds_nothing(said: str) -> None:
    order = read_order(said)
    assert order is None or order.kind != "withhold"


LIFTED = [
    "reparle-moi de mon ex",
    "tu peux reparler de mon ex",
    "vous pouvez reparler de mon ex",
    "parle-moi de nouveau de mon ex",
    "tu peux à nouveau parler de mon ex",
    "parle de mon ex maintenant",
    "vuelve a hablarme de mi ex",
    "ya puedes hablar de mi ex",
    "puede volver a mencionar a Meche",
    "háblame de mi ex otra vez",
    "sprich wieder über meinen Ex",
]

ASKED_ABOUT = [
    "parle moi de mon ex",
    "parle-moi de mon ex",
    "parle-moi encore de mon ex",
    "tu peux me parler de mon ex ?",
    "parlez-moi de mon mari",
    "háblame de mi ex",
    "hábleme de mi ex",
    "cuéntame de mi hermana",
    "puedes hablarme de mi ex",
    "sprich über meinen Ex",
]


@pytest.mark.parametrize("said", LIFTED)
def test_it_may_be_brought_up_again(said: str) -> None:
    order = read_order(said)
    assert order is not None
    assert order.kind == "lift"


@pytest.mark.parametrize("said", ASKED_ABOUT)
def test_asking_about_it_lifts_nothing(said: str) -> None:
    assert read_order(said) is None


BETWEEN_US = [
    "unter uns: der Murat trinkt a weng viel, des musst dir ned merkn",
    "des bleibt unter uns: der Murat trinkt",
    "ganz unter uns, der Murat trinkt",
    "der Murat trinkt, bleibt aber unter uns",
    "der Murat trinkt. behalt das bitte für dich",
    "between you and me our Janet drinks",
    "keep this to yourself, our Janet drinks",
    "our Janet drinks, keep that to yourself",
    "our Janet drinks but keep it to yourself",
    "entre toi et moi ma soeur boit",
    "ma soeur boit, que ça reste entre nous",
    "ma soeur boit, tu n'as pas besoin de retenir ça",
    "ma soeur boit mais garde ça pour toi",
    "aquí entre nos, mi hijo anda en la carcel",
    "mi hijo anda en la carcel, que quede entre nosotros",
    "mi hijo anda en la carcel, no hace falta que lo guardes",
    "mi hijo anda en la carcel, eso no lo guarde",
]

KEPT = [
    "mi otro hijo anda en la carcel, pero no le digas a nadie",
    "unter uns wohnt eine Familie aus Ulm",
    "entre nous on parle alsacien",
    "the fence between us and the neighbours is broken",
    "zwischen uns läuft es gerade gut",
    "my sister keeps to herself",
    "entre mi casa y la tuya hay una hora",
    "our Janet drinks, don't tell anybody",
    "ich muss mir das nicht merken lassen",
    "i keep this to myself mostly",
]


@pytest.mark.parametrize("said", BETWEEN_US)
def test_a_confidence_is_not_kept(said: str) -> None:
    assert keeps_nothing(said)


@pytest.mark.parametrize("said", KEPT)
def test_its_twin_is_kept(said: str) -> None:
    assert not keeps_nothing(said)
