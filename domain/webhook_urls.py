"""Where webhooks may be sent: no delivery is a way into the network of the server."""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

MAX_URL = 500
_MAX_PORT = 65535
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]{1,253}|\[(?P<ipv6>[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?(?:[/?][A-Za-z0-9._~:/?@!$&'()*+,;=%-]*)?"
)
"""Whatever matches has one meaning for every parser: it has no user, no fragment, and nothing to decode in its host."""
_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""Names do not end with a number: 0x7f.1, 0177.0.0.1 and 2130706433 are addresses for some."""
_LOCAL = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))
_GLOBAL_IPV6 = IPv6Network("2000::/3")
_REFUSED = (
    IPv4Network("168.63.129.16/32"),  # metadata of Azure
    IPv4Network("192.0.0.0/24"),  # for protocols
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv6Network("2001::/23"),  # for protocols, such as Teredo
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("3fff::/20"),  # documentation
)
"""Networks that are global for some versions of Python, and lead elsewhere."""


def check_webhook_url(url: str, *, allows_local: bool) -> str:
    """The URL, or a ValueError if nothing may be sent to it; `allows_local` is for development.

    The name of a host is not looked up: what it means now says nothing of the deliveries to come, and the caller would
    learn which names the inner network has.
    """
    match = _URL.fullmatch(url)
    if match is None or len(url) > MAX_URL or int(match["port"] or 1) > _MAX_PORT:
        raise ValueError(
            f"must be a URL with https, of at most {MAX_URL} ASCII characters, without a user and without a fragment"
        )
    if match["scheme"] != "https" and not allows_local:
        raise ValueError("must begin with https://")
    host = match["host"].lower()
    address = _address(match["ipv6"] or host)
    if address is None and (match["ipv6"] or not (_NAME.fullmatch(host) or (allows_local and host == "localhost"))):
        raise ValueError("must name a host by its full name, or by an address in its usual form")
    if address is not None and not _is_allowed(address, allows_local=allows_local):
        raise ValueError("must not be an address that only some can reach")
    return url


def is_allowed_address(address: str, *, allows_local: bool) -> bool:
    """Whether a delivery may connect to an address."""
    found = _address(address)
    return found is not None and _is_allowed(found, allows_local=allows_local)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _is_allowed(address: IPv4Address | IPv6Address, *, allows_local: bool) -> bool:
    if any(address in network for network in _LOCAL):
        return allows_local
    if address.version == 6 and address not in _GLOBAL_IPV6:  # noqa: PLR2004  # such as those that contain an IPv4 address
        return False
    is_refused = address.is_multicast or any(address in network for network in _REFUSED)
    return address.is_global and not is_refused
