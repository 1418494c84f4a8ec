"""Ed25519 word by word as in RFC 8032, section 5.1: slow, and sharing nothing with the library."""

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def added(a, b):
    """Add two points of the curve -x² + y² = 1 + d x² y²."""
    (x, y), (u, v) = a, b
    both = D * x * y * u * v
    return (
        (x * v + u * y) * pow(1 + both, P - 2, P) % P,
        (y * v + x * u) * pow(1 - both, P - 2, P) % P,
    )


def times(number, point):
    result = (0, 1)
    while number:
        if number & 1:
            result = added(result, point)
        point = added(point, point)
        number >>= 1
    return result


def decoded(data):
    """Find the point of 32 bytes: y, and the lowest bit of x."""
    whole = int.from_bytes(data, "little")
    sign, y = whole >> 255, whole & (2**255 - 1)
    assert y < P
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    assert (x * x - square) % P == 0
    return (P - x if x & 1 != sign else x), y


BASE = decoded((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def verifies(public_key, signature, message):
    """Check the group equation [S]B = R + [k]A."""
    s = int.from_bytes(signature[32:], "little")
    if s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    k = int.from_bytes(digest, "little") % ORDER
    return times(s, BASE) == added(decoded(signature[:32]), times(k, decoded(public_key)))
