"""Ed25519 keys: one signs and is private, the other checks and is public.

The only place that knows the library for signatures. Reference: Josefsson and Liusvaara,
Edwards-Curve Digital Signature Algorithm, doi:10.17487/RFC8032.
"""

import os
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sfumato.errors import (
    MissingExtraError,
    OutputError,
    ParameterError,
    reason_of,
    require_text,
)
from sfumato.files import read_small
from sfumato.files.confinement import require_inside
from sfumato.files.private import refuse_inside_release

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

EVIDENCE = "evidence.json"
MANIFEST = "manifest.json"
"""The files that make a folder a release: a private key does not belong beside them."""

_MOST_BYTES = 1 << 16
_PUBLIC = "the file of an Ed25519 public key (PEM), such as sfumato keygen writes"
_PRIVATE = "the file of an Ed25519 private key (PEM), such as sfumato keygen writes"


class PublicKey:
    """What others need to check a signature; it is no secret.

    Example:
        >>> PublicKey(bytes(32))
        <PublicKey ed25519:0000000000000000000000000000000000000000000000000000000000000000>
    """

    def __init__(self, raw: bytes) -> None:
        if len(raw) != 32:
            raise ParameterError("public_key", raw, "32 bytes")
        self.raw: bytes = bytes(raw)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "PublicKey":
        """Read a public key from its file."""
        data = _read("public_key", path, _PUBLIC)
        if b"PRIVATE KEY" in data:
            why = "this is a private key. Give the public key that belongs to it, and keep this one"
            raise ParameterError("public_key", str(path), _PUBLIC, why=why)
        require_library()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = serialization.load_pem_public_key(data)
        except (ValueError, UnsupportedAlgorithm):
            why = "it holds no such key"
            raise ParameterError("public_key", str(path), _PUBLIC, why=why) from None
        if not isinstance(key, Ed25519PublicKey):
            raise ParameterError("public_key", str(path), _PUBLIC, why="it is of another kind")
        return cls(key.public_bytes_raw())

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Return whether the owner of this key signed exactly this message."""
        require_library()
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True

    def pem(self) -> bytes:
        """Write it as others read it."""
        require_library()
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        return Ed25519PublicKey.from_public_bytes(self.raw).public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __str__(self) -> str:
        return f"ed25519:{self.raw.hex()}"

    def __repr__(self) -> str:
        return f"<PublicKey {self}>"


class SigningKey:
    """A publisher's private key: its holder can sign in the publisher's name.

    Example:
        >>> key = SigningKey.generate()
        >>> key.public.verifies(key.sign(b"what I said"), b"what I said")
        True
        >>> key.public.verifies(key.sign(b"what I said"), b"what they made of it")
        False
    """

    def __init__(self, key: "Ed25519PrivateKey") -> None:
        self._key = key

    @classmethod
    def generate(cls) -> "SigningKey":
        """Draw a new key."""
        require_library()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | PathLike[str], passphrase: str | None = None) -> "SigningKey":
        """Read a private key from its file.

        Args:
            path: The file, as `sf.evidence.keygen` writes it.
            passphrase: What protects it, if anything does.
        """
        data = _read("key", path, _PRIVATE)
        if b"PUBLIC KEY" in data:
            why = "this is a public key, which can check and not sign"
            raise ParameterError("key", str(path), _PRIVATE, why=why)
        require_library()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = _private(data, str(path), passphrase)
        if not isinstance(key, Ed25519PrivateKey):
            raise ParameterError("key", str(path), _PRIVATE, why="it is of another kind")
        return cls(key)

    @property
    def public(self) -> PublicKey:
        """The key that checks what this one signs."""
        return PublicKey(self._key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Sign a message: 64 bytes, the same every time."""
        return self._key.sign(message)

    def pem(self, passphrase: str | None = None) -> bytes:
        """Write it as PKCS 8, behind a passphrase if there is one."""
        from cryptography.hazmat.primitives import serialization

        lock: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if passphrase is not None:
            lock = serialization.BestAvailableEncryption(passphrase.encode())
        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock
        )

    def __repr__(self) -> str:
        # Never the key itself: a repr ends in logs.
        return f"<SigningKey of {self.public}>"


Key: TypeAlias = str | PathLike[str] | SigningKey
"""A private key, or the file of one."""


def keygen(path: str | PathLike[str], *, passphrase: str | None = None) -> SigningKey:
    """Make a new pair of keys: one to sign releases with, one for readers to check them with.

    `path.key` is the private key, readable to you only; anyone who has it can sign in your name.
    `path.pub` is the public key: give it to your readers by a way they trust. Neither is ever
    written over. Needs the extra `sign`.

    Args:
        path: Where to write them, without the ending.
        passphrase: Protects the private key, if it should fall into the wrong hands.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> key = keygen(folder / "publisher")
        >>> sorted(path.name for path in folder.iterdir())
        ['publisher.key', 'publisher.pub']
    """
    if passphrase is not None:
        require_text("passphrase", passphrase)
    key = SigningKey.generate()
    write_pair(Path(path).expanduser(), key, passphrase)
    return key


def signing_key(key: Key) -> SigningKey:
    """Return a key that can sign, read from its file if need be."""
    return key if isinstance(key, SigningKey) else SigningKey.load(key)


def is_locked(path: str | PathLike[str]) -> bool:
    """Return whether a private key is behind a passphrase."""
    return b"ENCRYPTED" in _read("key", path, _PRIVATE)


def require_library() -> None:
    """Raise an error with the install command if the library for signatures is missing."""
    if not has_library():
        raise MissingExtraError("The library for signatures, cryptography,", "sign")


def has_library() -> bool:
    """Return whether signatures can be made and checked."""
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
    except ImportError:
        return False
    return True


def _private(data: bytes, path: str, passphrase: str | None) -> Any:  # noqa: ANN401 - any kind
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    locked = b"ENCRYPTED" in data
    if locked and not passphrase:
        why = "it is behind a passphrase: sf.evidence.SigningKey.load(path, passphrase) opens it"
        raise ParameterError("key", path, _PRIVATE, why=why)
    try:
        password = passphrase.encode() if locked and passphrase else None
        return serialization.load_pem_private_key(data, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        why = "the passphrase is wrong, or it is damaged" if locked else "it holds no such key"
        raise ParameterError("key", path, _PRIVATE, why=why) from None


def _read(name: str, path: str | PathLike[str], expected: str) -> bytes:
    if not isinstance(path, str | PathLike):
        raise ParameterError(name, path, expected)
    file = Path(path).expanduser()
    try:
        return read_small(file, "a key", _MOST_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ParameterError(name, str(path), expected, why=why) from None


def write_pair(path: Path, key: SigningKey, passphrase: str | None = None) -> tuple[Path, Path]:
    """Write `path.key` and `path.pub`, both or neither; existing keys are never replaced."""
    stem = str(path).removesuffix(".key")
    private, public = Path(f"{stem}.key"), Path(f"{stem}.pub")
    refuse_inside_release(private, "the key that signs,")
    for each in (private, public):
        if os.path.lexists(each):
            raise OutputError(
                f"{str(each)!r} exists, and a key that was used cannot be made again. Choose "
                "another name, or move it away."
            )
    _write_new(private, key.pem(passphrase), 0o600)
    try:
        _write_new(public, key.public.pem(), 0o644)
    except BaseException:
        private.unlink()
        raise
    return private, public


def _write_new(path: Path, data: bytes, mode: int) -> None:
    require_inside(path, OutputError)
    made = False
    try:
        # Private before its first byte, and only if nothing is there.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        made = True
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        if made:
            with suppress(OSError):
                path.unlink()
        raise OutputError(
            f"cannot write {str(path)!r}: {reason_of(error)}. Nothing was left behind."
        ) from None
