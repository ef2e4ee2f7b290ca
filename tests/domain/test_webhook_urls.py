import pytest

from domain.webhook_urls import check_webhook_url, is_allowed_address

INNER = [
    *("127.0.0.1", "127.8.9.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),  # noqa: S104  # not listened on
    *("169.254.169.254", "168.63.129.16", "192.0.0.192", "100.100.100.200", "100.64.0.1"),  # metadata, carriers
    *("224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255", "192.88.99.1", "192.0.2.1", "198.18.0.1"),
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "ff0e::1", "100::1", "5f00::1"),
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8"),  # IPv4 in IPv6
    *("64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:808:808::1"),  # NAT64, 6to4
    *(
        "2001::1",
        "2001:20::1",
        "2001:4:112::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
        "3fff::1",
    ),  # Teredo, documentation
]
OUTER = ["8.8.8.8", "93.184.216.34", "192.0.1.1", "2606:4700::1111", "2a00:1450:4001:80b::200e", "2620:4f:8000::1"]
ODD = [
    *("2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1", "127.1", "127.0.1", "127.0.0.1."),
    *("127.0.0.01", "127.0.0.1.nip.1", "1.2.3.4.5", "8.8", "999.1.1.1", "localhost.", "-a.example", "a..example"),
    *("a_b.example", "a.example.", ".example", "xn--.", "[::ffff:8.8.8]", "[1.2.3.4]", "[]", "[::1", "::1", "metadata"),
    *("[fe80::1%25eth0]", "[::1%lo]", "bücher.example", "ｅxample.com", "a%2eexample", "a" * 64 + ".example"),  # noqa: RUF001
    *("user@a.example", "user:pass@a.example", "a.example@127.0.0.1", "a.example\\@127.0.0.1", "a.example\\.b.example"),
    *("a.example:0", "a.example:65536", "a.example:http", "a.example:", "a.example:080", "a b.example", "a.example\t"),
]


@pytest.mark.parametrize("address", INNER)
def test_nothing_is_sent_to_an_address_that_is_not_for_everyone(address: str) -> None:
    assert not is_allowed_address(address, allows_local=False)
    with pytest.raises(ValueError, match=r"^must not be an address"):
        check_webhook_url(url_of(address), allows_local=False)


@pytest.mark.parametrize("address", OUTER)
def test_global_addresses_are_allowed(address: str) -> None:
    assert is_allowed_address(address, allows_local=False)
    assert check_webhook_url(url_of(address), allows_local=False) == url_of(address)


@pytest.mark.parametrize("host", ODD)
@pytest.mark.parametrize("allows_local", [False, True])
def test_a_host_that_programs_may_read_in_two_ways_is_refused(host: str, *, allows_local: bool) -> None:
    with pytest.raises(ValueError, match=r"^must (be a URL|name a host)"):
        check_webhook_url(f"https://{host}/", allows_local=allows_local)


@pytest.mark.parametrize("address", INNER)
def test_in_development_the_machine_itself_is_allowed_and_nothing_else_within(address: str) -> None:
    is_loopback = address in {"127.0.0.1", "127.8.9.1", "::1"}
    assert is_allowed_address(address, allows_local=True) == is_loopback


def test_http_and_localhost_are_for_development() -> None:
    for url in ("http://a.example/hook", "https://localhost/hook", "http://localhost:8001"):
        assert check_webhook_url(url, allows_local=True) == url
        with pytest.raises(ValueError, match=r"^must (begin with https://|name a host)"):
            check_webhook_url(url, allows_local=False)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.a-b.example",
        "https://Hooks.Example:8443/in?token=a%20b&x=1",
        "https://xn--bcher-kva.example/~me/a;b=c,d/(e)'f'!$*+",
        "https://a.example?q=https://b.example/@c:d",
        "https://1.example/" + "a" * 482,
    ],
)
def test_a_url_of_a_host_is_taken_as_it_is(url: str) -> None:
    assert check_webhook_url(url, allows_local=False) == url


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "https://",
            "https:///a",
            "//a.example",
            "a.example",
            "HTTPS://a.example",
            "ftp://a.example",
            "file:///etc",
        ),
        *(
            "https://a.example/#b",
            "https://a.example/a b",
            "https://a.example/\n",
            "https://a.example/ä",
            "https:/a.example",
        ),
        *(
            " https://a.example",
            "https://a.example ",
            "https://a.example/\x00",
            "https://a.example/\\b",
            "javascript:1",
        ),
        "https://1.example/" + "a" * 483,
    ],
)
def test_anything_else_is_no_url_for_a_webhook(url: str) -> None:
    with pytest.raises(ValueError, match=r"^must be a URL"):
        check_webhook_url(url, allows_local=True)


def url_of(address: str) -> str:
    return f"https://[{address}]:8443/hook" if ":" in address else f"https://{address}:8443/hook"
