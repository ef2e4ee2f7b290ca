import json

from graphql import OperationDefinitionNode, parse

from loaders.backend import Backend
from loaders.tools.demo import DemoShape, load_demo
from loaders.tools.demo_codes import load_demo_codes
from tests.api import Api
from tests.documentation import EXAMPLE, EXAMPLES


async def test_the_examples_give_the_documented_answers_in_their_order(api: Api, backend: Backend) -> None:
    await load_demo(backend.store, DemoShape(), backend.clock(), lambda _: None)
    await load_demo_codes(backend)
    examples = list(EXAMPLE.finditer(EXAMPLES))
    assert len(examples) == EXAMPLES.count("\n## ") == 14
    for example in examples:
        answer = await api.send(example["document"], **json.loads(example["variables"]))
        assert answer == json.loads(example["answer"]), example["document"]


def test_every_example_has_a_name_and_takes_its_values_as_variables() -> None:
    for example in EXAMPLE.finditer(EXAMPLES):
        (operation,) = parse(example["document"]).definitions
        assert isinstance(operation, OperationDefinitionNode)
        assert operation.name is not None
        declared = {variable.variable.name.value for variable in operation.variable_definitions or ()}
        assert declared == set(json.loads(example["variables"]))
