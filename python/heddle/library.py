# SPDX-License-Identifier: Apache-2.0
"""The layer over libheddle.so (heddle.h), with ctypes: machines, devices, modules, buffers, launches."""
from __future__ import annotations

import ctypes
import json
import operator
import os
import struct
import sysconfig
from array import array as Array
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Dict, Iterable, Mapping, Sequence, Union

Path = Union[str, "os.PathLike[str]"]
Document = Dict[str, Any]
Settings = Mapping[str, Any]
Watch = Callable[[int, int, int, int], Any]

_WATCH = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64, c_uint64, c_uint64)
_SONAME = "libheddle.so.0"
# Where the package lies: python of the source tree, or PREFIX/lib/python3/dist-packages (site-packages) of an installation.
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIB = os.path.dirname(os.path.dirname(FOLDER))
PREFIX = os.path.dirname(LIB)


class Error(Exception):
    """What Heddle refused or stopped, in its words. `result` is what there is nevertheless, a dictionary or a table, or None."""
    status: int | None = None

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class WrongResult(Error):
    """A launch file's expected results are not what came out."""
    status = 1


class Refused(Error):
    """Bad input, or the host refused memory or files."""
    status = 2


class Stopped(Error):
    """A launch stopped: a fault, a deadlock, a limit, or the watcher said so."""
    status = 3


def error_of(status: int) -> type[Error]:
    """The exception of an exit status of the program, or of a status of the library."""
    return {1: WrongResult, 3: Stopped}.get(status, Refused)


def setting(key: str, value: Any) -> str:
    """As --set and heddle_machine_set take it."""
    return f"{key}={str(value).lower() if isinstance(value, bool) else value}"


def _find_library() -> str:
    """HEDDLE_LIBRARY, else the library that was installed with this file, else the one the host finds."""
    chosen = os.environ.get("HEDDLE_LIBRARY")
    if chosen:
        return chosen
    for folder in (LIB, os.path.join(LIB, sysconfig.get_config_var("MULTIARCH") or ""), LIB + "64"):
        path = os.path.join(folder, _SONAME)
        if os.path.exists(path):
            return path
    return _SONAME


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_find_library())
    except OSError as error:
        raise ImportError(f"{error}; set HEDDLE_LIBRARY to the path of {_SONAME}") from None
    out, words = POINTER(c_void_p), POINTER(c_char_p)
    for name, *arguments in (  # all that return a status, without the last argument, `errors`
            ("machine_names", c_void_p), ("mechanism_names", c_void_p), ("plugin_load", c_char_p), ("machine_open", c_char_p, out),
            ("machine_set", c_void_p, c_char_p), ("machine_check", c_void_p, c_int),
            ("machine_keys", c_void_p, c_void_p),
            ("run_file", c_void_p, c_char_p, c_int, c_uint64, _WATCH, c_void_p, c_void_p),
            ("check_file", c_void_p, c_char_p, c_char_p, c_uint, c_uint64, c_void_p),
            ("device_check", c_void_p, c_char_p, c_uint), ("device_findings", c_void_p, c_void_p),
            ("device_open", c_void_p, out), ("device_watch", c_void_p, _WATCH, c_void_p),
            ("device_result", c_void_p, c_int, c_void_p), ("device_forget", c_void_p),
            ("module_from_file", c_void_p, c_char_p, words, out),
            ("module_from_text", c_void_p, c_char_p, c_char_p, words, out), ("module_kernels", c_void_p, c_void_p),
            ("buffer_create", c_void_p, c_char_p, c_uint64, out),
            ("buffer_write", c_void_p, c_uint64, c_void_p, c_uint64),
            ("buffer_read", c_void_p, c_uint64, c_void_p, c_uint64), ("kernel_find", c_void_p, c_char_p, out),
            ("kernel_set_buffer", c_void_p, c_uint, c_void_p, c_uint64),
            ("kernel_set_integer", c_void_p, c_uint, c_int64), ("kernel_set_real", c_void_p, c_uint, c_double),
            ("kernel_set_bytes", c_void_p, c_uint, c_void_p, c_size_t),
            ("kernel_set_local", c_void_p, c_uint, c_uint32), ("kernel_set_shared", c_void_p, c_uint32),
            ("kernel_launch", c_void_p, c_uint, POINTER(c_uint32), POINTER(c_uint32), c_int, c_void_p)):
        function = getattr(library, "heddle_" + name)
        function.argtypes, function.restype = [*arguments, c_void_p], c_int
    for name, result, *arguments in (
            ("version", c_char_p), ("text_create", c_void_p), ("text_get", c_void_p, c_void_p),
            ("text_bytes", c_size_t, c_void_p), ("text_free", None, c_void_p), ("machine_close", None, c_void_p),
            ("device_close", None, c_void_p), ("buffer_bytes", c_uint64, c_void_p), ("buffer_free", None, c_void_p),
            ("kernel_arguments", c_uint, c_void_p)):
        function = getattr(library, "heddle_" + name)
        function.argtypes, function.restype = arguments, result
    return library


_library = _load()
plugins: list[str] = []  # that were loaded


class _Text:
    def __init__(self) -> None:
        self.handle = _library.heddle_text_create()

    def __del__(self) -> None:
        _library.heddle_text_free(self.handle)

    def __str__(self) -> str:
        text = ctypes.string_at(_library.heddle_text_get(self.handle), _library.heddle_text_bytes(self.handle))
        return text.decode(errors="surrogateescape")

    def document(self) -> Any:
        return json.loads(str(self)) if _library.heddle_text_bytes(self.handle) else None


def _call(name: str, *arguments: Any, result: _Text | None = None) -> None:
    """Calls heddle_NAME; `result` is a text that it writes, which an exception takes along."""
    errors = _Text()
    status = getattr(_library, "heddle_" + name)(*arguments, errors.handle)
    if status:
        raise error_of(status)(str(errors).strip(), result.document() if result else None)


def _bytes(text: Path) -> bytes:
    return os.fsencode(text)


def _mode(functional: bool) -> int:
    return 1 if functional else 0


class _Watcher:
    """Python's function as the library's. An exception in it, Ctrl-C too, stops the launch and goes on to who launched."""

    def __init__(self, function: Watch | None) -> None:
        self.function = function
        self.raised: BaseException | None = None
        self.callback = _WATCH(self.called)

    def called(self, _: Any, cycles: int, blocks_done: int, blocks: int, warp_instructions: int) -> int:
        try:
            go_on = self.function(cycles, blocks_done, blocks, warp_instructions) if self.function else True
            return 1 if go_on is False else 0
        except BaseException as raised:  # must not be lost in C
            self.raised = raised
            return 1

    def call(self, name: str, *arguments: Any, result: _Text) -> None:
        self.raised = None
        try:
            _call(name, *arguments, result=result)
        except Stopped:
            if self.raised:
                raise self.raised from None
            raise


def version() -> str:
    """Version of the library, "0.1.0"."""
    return _library.heddle_version().decode()


def machines() -> list[str]:
    """Names of the shipped machines."""
    text = _Text()
    _call("machine_names", text.handle)
    return str(text).split()


def mechanisms() -> list[str]:
    """Names of the divergence mechanisms, values of the key divergence.mechanism."""
    text = _Text()
    _call("mechanism_names", text.handle)
    return str(text).split()


def load_plugin(path: Path) -> None:
    """Divergence mechanisms, schedulers, predictors and replacement policies of a shared library: machines opened later know
    them by name, those of the program too."""
    _call("plugin_load", _bytes(path))
    if os.path.abspath(path) not in plugins:
        plugins.append(os.path.abspath(path))


class Machine:
    """The parameters of a GPU: a shipped machine by name, or a configuration file; None: the default. `settings` are keys and
    their values."""

    def __init__(self, gpu: Path | None = None, settings: Settings | None = None) -> None:
        self._handle: c_void_p | None = None
        handle = c_void_p()
        _call("machine_open", None if gpu is None else _bytes(gpu), byref(handle))
        self._handle = handle
        for key, value in (settings or {}).items():
            self.set(key, value)

    def __del__(self) -> None:
        if self._handle:
            _library.heddle_machine_close(self._handle)

    def set(self, key: str, value: Any) -> None:
        """Gives a key of the machine a value; devices that are open stay as they are."""
        _call("machine_set", self._handle, _bytes(setting(key, value)))

    def check(self, functional: bool = False) -> None:
        """Raises Refused unless launches of this mode can run on it."""
        _call("machine_check", self._handle, _mode(functional))

    def keys(self) -> dict[str, dict[str, Any]]:
        """All keys: {key: {value, unit, origin, accepts, help}}."""
        text = _Text()
        _call("machine_keys", self._handle, text.handle)
        return text.document()

    def run_file(self, path: Path, functional: bool = False, seed: int = 1, watch: Watch | None = None) -> Document:
        """Runs a launch file as `heddle run -o` does: the result file as a dictionary. A WrongResult or Stopped has it as its
        `result`. `watch(cycles, blocks_done, blocks, warp_instructions)` looks on in time; False stops the run."""
        text, watcher = _Text(), _Watcher(watch)
        watcher.call("run_file", self._handle, _bytes(path), _mode(functional), seed, watcher.callback, None, text.handle,
                     result=text)
        return text.document()

    def check_file(self, path: Path, kinds: str | Iterable[str] | None = None, limit: int = 100, seed: int = 1) -> Document:
        """What `heddle check -o` writes of a launch file: a dictionary, whose "wrong" says whether there is an error among its "findings".
        `kinds` are some of "memory", "uninitialised", "race", "barrier"; None: all."""
        text = _Text()
        return _findings(text, "check_file", self._handle, _bytes(path), _kinds(kinds), limit, seed, text.handle)


def _kinds(kinds: str | Iterable[str] | None) -> bytes | None:
    return None if kinds is None else _bytes(kinds if isinstance(kinds, str) else ",".join(kinds))


def _findings(text: _Text, name: str, *arguments: Any) -> Document:
    """An error that a check finds is what was asked for, and no exception."""
    try:
        _call(name, *arguments, result=text)
    except WrongResult:
        pass
    return text.document()


class Device:
    """A simulated GPU as the machine says now. `watch(cycles, blocks_done, blocks, warp_instructions)` looks on while launches run
    in time; False stops them. Close it, or use it in a `with`."""

    def __init__(self, machine: Machine | None = None, watch: Watch | None = None) -> None:
        self._handle: c_void_p | None = None
        machine = Machine() if machine is None else machine
        handle = c_void_p()
        _call("device_open", machine._handle, byref(handle))
        self._handle = handle
        self._watcher = _Watcher(watch)
        _call("device_watch", handle, self._watcher.callback, None)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Ends the device with its modules and buffers, which then refuse everything."""
        if self._handle:
            _library.heddle_device_close(self._handle)
            self._handle = None

    def _open(self) -> c_void_p:
        if not self._handle:
            raise Refused("the device is closed")
        return self._handle

    def file(self, path: Path, options: Sequence[str] = ()) -> Module:
        """Kernels of a file: .cl, .cu, .ptx, .sass, .cubin or .fatbin. `options` are words for the compiler, such as "-DN=4"."""
        return self._module("module_from_file", _bytes(path), options=options)

    def source(self, name: str, text: str, options: Sequence[str] = ()) -> Module:
        """Kernels of a text, as those of a file; the ending of `name` says what it is."""
        return self._module("module_from_text", _bytes(name), text.encode(), options=options)

    def _module(self, function: str, *arguments: Any, options: Sequence[str]) -> Module:
        words = (c_char_p * (len(options) + 1))(*map(_bytes, options), None)
        handle = c_void_p()
        _call(function, self._open(), *arguments, words, byref(handle))
        return Module(self, handle)

    def buffer(self, data: Any, name: str | None = None) -> Buffer:
        """Memory of the device: a copy of data with the buffer protocol, or so many bytes of zeros."""
        return Buffer(self, data, name)

    def result(self, functional: bool = False) -> Document:
        """The launches of this mode so far, as the result file of docs/result-files.md: a dictionary."""
        text = _Text()
        _call("device_result", self._open(), _mode(functional), text.handle)
        return text.document()

    def check(self, kinds: str | Iterable[str] | None = None, limit: int = 100) -> None:
        """From now on launches without time are watched for what is wrong with their kernels (docs/check.md); findings() says what was found.
        `kinds` and `limit` are those of Machine.check_file."""
        _call("device_check", self._open(), _kinds(kinds), limit)

    def findings(self) -> Document:
        """What was found since check(): the document of `heddle check -o` as a dictionary."""
        text = _Text()
        return _findings(text, "device_findings", self._open(), text.handle)

    def forget(self) -> None:
        """Results begin anew; memory, caches and modules stay as they are."""
        _call("device_forget", self._open())


class Local:
    """An argument that is local memory of a block, so many bytes."""

    def __init__(self, size: int) -> None:
        self.size = size


class Module:
    """Kernels on a device, made by Device.file and Device.source."""

    def __init__(self, device: Device, handle: c_void_p) -> None:
        self._device, self._handle = device, handle

    def kernels(self) -> list[str]:
        """Signatures of its kernels."""
        self._device._open()
        text = _Text()
        _call("module_kernels", self._handle, text.handle)
        return str(text).splitlines()

    def launch(self, kernel: str, grid: int | Iterable[int], block: int | Iterable[int], args: Sequence[Any] = (), functional: bool = False,
               shared: int = 0) -> Document:
        """Runs a kernel on `grid` blocks of `block` threads, numbers or up to three of them, and returns what it did: the launch's
        entry of the result. Arguments are buffers (None: a null pointer), numbers, Local(bytes), and anything with the buffer
        protocol that is passed as it is: ctypes and struct values. `shared` bytes are CUDA's extern __shared__."""
        self._device._open()
        blocks, threads = _sizes("grid", grid), _sizes("block", block)
        dimensions = max(len(blocks), len(threads))
        handle = c_void_p()
        _call("kernel_find", self._handle, _bytes(kernel), byref(handle))
        if len(args) != _library.heddle_kernel_arguments(handle):
            raise Refused(f"{kernel} takes {_library.heddle_kernel_arguments(handle)} arguments, not {len(args)}")
        for index, value in enumerate(args):
            _set_argument(handle, index, value)
        _call("kernel_set_shared", handle, shared)
        text = _Text()
        self._device._watcher.call("kernel_launch", handle, dimensions, _padded(blocks, dimensions), _padded(threads, dimensions),
                                   _mode(functional), text.handle, result=text)
        return text.document()


def _sizes(what: str, sizes: int | Iterable[int]) -> tuple[int, ...]:
    numbers = tuple(map(operator.index, sizes)) if isinstance(sizes, Iterable) else (operator.index(sizes),)
    if not all(0 < size < 1 << 32 for size in numbers):
        raise Refused(f"{what}: sizes are at least 1 and below 2**32, not {numbers}")
    return numbers


def _padded(sizes: tuple[int, ...], dimensions: int) -> Any:
    return (c_uint32 * dimensions)(*sizes, *[1] * (dimensions - len(sizes)))


def _set_argument(kernel: c_void_p, index: int, value: Any) -> None:
    if value is None or isinstance(value, Buffer):
        _call("kernel_set_buffer", kernel, index, None if value is None else value._open(), 0)
    elif isinstance(value, Local):
        _call("kernel_set_local", kernel, index, value.size)
    elif isinstance(value, float):
        _call("kernel_set_real", kernel, index, value)
    elif hasattr(value, "__index__"):
        number = operator.index(value)
        if -1 << 63 <= number < 1 << 63:
            _call("kernel_set_integer", kernel, index, number)
        elif number < 1 << 64 and number > 0:
            _set_bytes(kernel, index, struct.pack("<Q", number))
        else:
            raise Refused(f"argument {index}: {number} has more than 64 bits")
    elif hasattr(value, "__float__") and not hasattr(value, "__len__"):
        _call("kernel_set_real", kernel, index, float(value))
    else:
        _set_bytes(kernel, index, value)


def _set_bytes(kernel: c_void_p, index: int, value: Any) -> None:
    try:
        data = bytes(memoryview(value))
    except TypeError:
        raise Refused(f"argument {index}: a {type(value).__name__} is no argument of a kernel") from None
    _call("kernel_set_bytes", kernel, index, data, len(data))


class Buffer:
    """Memory of a device, made by Device.buffer."""

    def __init__(self, device: Device, data: Any, name: str | None = None) -> None:
        self._device = device
        self._handle: c_void_p | None = None
        is_size = isinstance(data, int)
        size = data if is_size else memoryview(data).nbytes
        if not 0 <= size < 1 << 64:
            raise Refused(f"a buffer cannot have {size} bytes")
        handle = c_void_p()
        _call("buffer_create", device._open(), None if name is None else _bytes(name), size, byref(handle))
        self._handle = handle
        if not is_size:
            self.write(data)

    def __len__(self) -> int:
        return _library.heddle_buffer_bytes(self._open())

    def _open(self) -> c_void_p | None:
        self._device._open()
        return self._handle

    def write(self, data: Any, offset: int = 0) -> None:
        """Puts data with the buffer protocol into it, from byte `offset` on."""
        view = memoryview(data)
        data = view if view.c_contiguous and not view.readonly else view.tobytes()
        size = view.nbytes
        at = (ctypes.c_char * size).from_buffer(data) if isinstance(data, memoryview) else data
        _call("buffer_write", self._open(), offset, ctypes.cast(at, c_void_p), size)

    def read(self, offset: int = 0, size: int | None = None) -> bytes:
        """`size` of its bytes, to its end unless given."""
        size = max(len(self) - offset, 0) if size is None else size
        data = bytearray(size)
        self.read_into(data, offset)
        return bytes(data)

    def read_into(self, target: Any, offset: int = 0) -> None:
        """Fills a writable object with the buffer protocol, such as a NumPy array."""
        view = memoryview(target)
        if view.readonly or not view.c_contiguous:
            raise Refused("the target must be writable and in one piece")
        at = (ctypes.c_char * view.nbytes).from_buffer(view)
        _call("buffer_read", self._open(), offset, ctypes.cast(at, c_void_p), view.nbytes)

    def array(self, typecode: str) -> Array:
        """All of it as an array.array: "f" floats, "i" ints, ..."""
        return Array(typecode, self.read())

    def free(self) -> None:
        """Gives the memory back; the buffer then refuses everything."""
        _library.heddle_buffer_free(self._open())
