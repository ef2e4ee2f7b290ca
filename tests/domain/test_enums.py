import pytest

from domain.enums import DescribedEnum


def test_a_value_is_found_by_its_text_and_says_what_it_means() -> None:
    class Size(DescribedEnum):
        """Size of a box."""

        SMALL = "s", "Small."

    assert Size("s") is Size.SMALL
    assert str(Size.SMALL) == "s"
    assert Size.SMALL.description == "Small."


def test_a_value_without_a_description_is_refused() -> None:
    with pytest.raises(TypeError, match="Size has no description of m"):

        class Size(DescribedEnum):
            """Size of a box."""

            MEDIUM = "m"
