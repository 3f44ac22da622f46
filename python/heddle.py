# SPDX-License-Identifier: Apache-2.0
"""Heddle from Python: kernels on a simulated GPU, results as plain dictionaries.

    import heddle

    with heddle.Device(heddle.Machine("gtx480")) as device:
        module = device.source("double.cl", "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }")
        x = device.buffer(array.array("i", range(1024)))
        launch = module.launch("twice", grid=4, block=256, args=[x])
        print(launch["cycles"], launch["simd_efficiency"], x.array("i")[:4])

A layer over libheddle.so (heddle.h) with ctypes; it needs nothing but Python's own library. Buffers take and give anything with
the buffer protocol: bytes, array.array, NumPy arrays. What fails raises an Error with Heddle's message. A device, and all that
was made from it, is used by one thread at a time; other Python threads go on while a launch runs. docs/api.md says more.
"""
import array
import ctypes
import itertools
import json
import operator
import os
import struct
import sysconfig
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

__all__ = ["Buffer", "Device", "Error", "Local", "Machine", "Module", "Refused", "Stopped", "WrongResult",
           "Runs", "machines", "mechanisms", "run", "version"]

_WATCH = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64, c_uint64, c_uint64)
_SONAME = "libheddle.so.0"


class Error(Exception):
    """What Heddle refused or stopped, in its words. `result` is the dictionary that there is nevertheless, or None."""
    status = None

    def __init__(self, message, result=None):
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


def _find_library():
    """HEDDLE_LIBRARY, else the library that was installed with this file, else the one the host finds."""
    chosen = os.environ.get("HEDDLE_LIBRARY")
    if chosen:
        return chosen
    lib = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # PREFIX/lib/python3/dist-packages
    for folder in (lib, os.path.join(lib, sysconfig.get_config_var("MULTIARCH") or ""), lib + "64"):
        path = os.path.join(folder, _SONAME)
        if os.path.exists(path):
            return path
    return _SONAME


def _load():
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


class _Text:
    def __init__(self):
        self.handle = _library.heddle_text_create()

    def __del__(self):
        _library.heddle_text_free(self.handle)

    def __str__(self):
        text = ctypes.string_at(_library.heddle_text_get(self.handle), _library.heddle_text_bytes(self.handle))
        return text.decode(errors="surrogateescape")

    def document(self):
        return json.loads(str(self)) if _library.heddle_text_bytes(self.handle) else None


def _call(name, *arguments, result=None):
    """Calls heddle_NAME; `result` is a text that it writes, which an exception takes along."""
    errors = _Text()
    status = getattr(_library, "heddle_" + name)(*arguments, errors.handle)
    if status:
        kind = {1: WrongResult, 3: Stopped}.get(status, Refused)
        raise kind(str(errors).strip(), result.document() if result else None)


def _bytes(text):
    return os.fsencode(text)


def _mode(functional):
    return 1 if functional else 0


class _Watcher:
    """Python's function as the library's. An exception in it, Ctrl-C too, stops the launch and goes on to who launched."""

    def __init__(self, function):
        self.function, self.raised = function, None
        self.callback = _WATCH(self.called)

    def called(self, _, cycles, blocks_done, blocks, warp_instructions):
        try:
            go_on = self.function(cycles, blocks_done, blocks, warp_instructions) if self.function else True
            return 1 if go_on is False else 0
        except BaseException as raised:  # must not be lost in C
            self.raised = raised
            return 1

    def call(self, name, *arguments, result):
        self.raised = None
        try:
            _call(name, *arguments, result=result)
        except Stopped:
            if self.raised:
                raise self.raised from None
            raise


def version():
    """Version of the library, "0.1.0"."""
    return _library.heddle_version().decode()


def machines():
    """Names of the shipped machines."""
    text = _Text()
    _call("machine_names", text.handle)
    return str(text).split()


def mechanisms():
    """Names of the divergence mechanisms, values of the key divergence.mechanism."""
    text = _Text()
    _call("mechanism_names", text.handle)
    return str(text).split()


def load_plugin(path):
    """Divergence mechanisms, schedulers, predictors and replacement policies of a shared library: machines opened later know
    them by name."""
    _call("plugin_load", os.fsencode(path))


class Machine:
    """The parameters of a GPU: a shipped machine by name, or a configuration file; None: the default. `settings` are keys and
    their values."""

    def __init__(self, gpu=None, settings=None):
        self._handle = None
        handle = c_void_p()
        _call("machine_open", None if gpu is None else _bytes(gpu), byref(handle))
        self._handle = handle
        for key, value in (settings or {}).items():
            self.set(key, value)

    def __del__(self):
        if self._handle:
            _library.heddle_machine_close(self._handle)

    def set(self, key, value):
        """Devices that are open stay as they are."""
        value = str(value).lower() if isinstance(value, bool) else value
        _call("machine_set", self._handle, _bytes(f"{key}={value}"))

    def check(self, functional=False):
        """Raises Refused unless launches of this mode can run on it."""
        _call("machine_check", self._handle, _mode(functional))

    def keys(self):
        """All keys: {key: {value, unit, origin, accepts, help}}."""
        text = _Text()
        _call("machine_keys", self._handle, text.handle)
        return text.document()

    def run_file(self, path, functional=False, seed=1, watch=None):
        """Runs a launch file as `heddle run -o` does: the result file as a dictionary. A WrongResult or Stopped has it as its
        `result`. `watch(cycles, blocks_done, blocks, warp_instructions)` looks on in time; False stops the run."""
        text, watcher = _Text(), _Watcher(watch)
        watcher.call("run_file", self._handle, _bytes(path), _mode(functional), seed, watcher.callback, None, text.handle,
                     result=text)
        return text.document()


    def check_file(self, path, kinds=None, limit=100, seed=1):
        """What `heddle check -o` writes of a launch file: a dictionary, whose "wrong" says whether there is an error among its "findings".
        `kinds` are some of "memory", "uninitialised", "race", "barrier"; None: all."""
        text = _Text()
        return _findings(text, "check_file", self._handle, _bytes(path), _kinds(kinds), limit, seed, text.handle)


def _kinds(kinds):
    return None if kinds is None else _bytes(kinds if isinstance(kinds, str) else ",".join(kinds))


def _findings(text, name, *arguments):
    """An error that a check finds is what was asked for, and no exception."""
    try:
        _call(name, *arguments, result=text)
    except WrongResult:
        pass
    return text.document()


def _flat(document, before=""):
    """Numbers and texts of a dictionary and of those in it, by names such as memory.l1.accesses; lists are left out."""
    out = {}
    for name, value in document.items():
        if isinstance(value, dict):
            out.update(_flat(value, f"{before}{name}."))
        elif not isinstance(value, list):
            out[before + name] = value
    return out


class Runs(list):
    """Runs as a table: a dictionary for each, with the machine, the keys that were set and the totals of the result file. `results` has the
    documents. `pandas.DataFrame(runs)` and `csv.DictWriter` take it, and lines(), as they are."""

    def __init__(self, axes: "list[dict]", results: "list[dict]") -> None:
        super().__init__({**axis, **_flat(result["total"])} for axis, result in zip(axes, results))
        self.axes, self.results = axes, results

    def lines(self) -> "list[dict]":
        """A row for each source line of each run."""
        return [{**axis, **_flat(line)} for axis, result in zip(self.axes, self.results) for line in result["total"]["lines"]]


def run(launch: "str | os.PathLike", gpu: "str | list[str]" = "gtx480", settings: "dict | None" = None, functional: bool = False, seed: int = 1) -> Runs:
    """Runs a launch file on machines: every combination of `gpu` and of the values in `settings`, a list where a key has several, the last
    changing fastest.

        runs = heddle.run("examples/collatz.yaml", "fung-8800", {"divergence.mechanism": ["pdom", "dwf", "tbc"]})
        pandas.DataFrame(runs)[["divergence.mechanism", "cycles", "simd_efficiency"]]
    """
    columns = {"gpu": gpu, **(settings or {})}
    lists = [list(values) if isinstance(values, (list, tuple, range)) else [values] for values in columns.values()]
    axes = [dict(zip(columns, values)) for values in itertools.product(*lists)]
    results = []
    for axis in axes:
        keys = {key: value for key, value in axis.items() if key != "gpu"}
        results.append(Machine(axis["gpu"], keys).run_file(launch, functional=functional, seed=seed))
    return Runs(axes, results)


class Device:
    """A simulated GPU as the machine says now. `watch(cycles, blocks_done, blocks, warp_instructions)` looks on while launches run
    in time; False stops them. Close it, or use it in a `with`."""

    def __init__(self, machine=None, watch=None):
        self._handle = None
        machine = Machine() if machine is None else machine
        handle = c_void_p()
        _call("device_open", machine._handle, byref(handle))
        self._handle = handle
        self._watcher = _Watcher(watch)
        _call("device_watch", handle, self._watcher.callback, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """Ends the device with its modules and buffers, which then refuse everything."""
        if self._handle:
            _library.heddle_device_close(self._handle)
            self._handle = None

    def _open(self):
        if not self._handle:
            raise Refused("the device is closed")
        return self._handle

    def file(self, path, options=()):
        """Kernels of a file: .cl, .cu, .ptx, .sass, .cubin or .fatbin. `options` are words for the compiler, such as "-DN=4"."""
        return self._module("module_from_file", _bytes(path), options=options)

    def source(self, name, text, options=()):
        """The same from text; the ending of `name` says what it is."""
        return self._module("module_from_text", _bytes(name), text.encode(), options=options)

    def _module(self, function, *arguments, options):
        words = (c_char_p * (len(options) + 1))(*map(_bytes, options), None)
        handle = c_void_p()
        _call(function, self._open(), *arguments, words, byref(handle))
        return Module(self, handle)

    def buffer(self, data, name=None):
        """Memory of the device: a copy of data with the buffer protocol, or so many bytes of zeros."""
        return Buffer(self, data, name)

    def result(self, functional=False):
        """The launches of this mode so far, as the result file of docs/result-files.md: a dictionary."""
        text = _Text()
        _call("device_result", self._open(), _mode(functional), text.handle)
        return text.document()

    def check(self, kinds=None, limit=100):
        """From now on launches without time are watched for what is wrong with their kernels (docs/check.md); findings() says what was found.
        `kinds` and `limit` are those of Machine.check_file."""
        _call("device_check", self._open(), _kinds(kinds), limit)

    def findings(self):
        """What was found since check(): the document of `heddle check -o` as a dictionary."""
        text = _Text()
        return _findings(text, "device_findings", self._open(), text.handle)

    def forget(self):
        """Results begin anew; memory, caches and modules stay as they are."""
        _call("device_forget", self._open())


class Local:
    """An argument that is local memory of a block, so many bytes."""

    def __init__(self, size):
        self.size = size


class Module:
    """Kernels on a device, made by Device.file and Device.source."""

    def __init__(self, device, handle):
        self._device, self._handle = device, handle

    def kernels(self):
        """Signatures of its kernels."""
        self._device._open()
        text = _Text()
        _call("module_kernels", self._handle, text.handle)
        return str(text).splitlines()

    def launch(self, kernel, grid, block, args=(), functional=False, shared=0):
        """Runs a kernel on `grid` blocks of `block` threads, numbers or up to three of them, and returns what it did: the launch's
        entry of the result. Arguments are buffers (None: a null pointer), numbers, Local(bytes), and anything with the buffer
        protocol that is passed as it is: ctypes and struct values. `shared` bytes are CUDA's extern __shared__."""
        self._device._open()
        grid, block = _sizes("grid", grid), _sizes("block", block)
        dimensions = max(len(grid), len(block))
        handle = c_void_p()
        _call("kernel_find", self._handle, _bytes(kernel), byref(handle))
        if len(args) != _library.heddle_kernel_arguments(handle):
            raise Refused(f"{kernel} takes {_library.heddle_kernel_arguments(handle)} arguments, but {len(args)} are given")
        for index, value in enumerate(args):
            _set_argument(handle, index, value)
        _call("kernel_set_shared", handle, shared)
        text = _Text()
        self._device._watcher.call("kernel_launch", handle, dimensions, _padded(grid, dimensions), _padded(block, dimensions),
                                   _mode(functional), text.handle, result=text)
        return text.document()


def _sizes(what, sizes):
    sizes = tuple(map(operator.index, sizes)) if hasattr(sizes, "__iter__") else (operator.index(sizes),)
    if not all(0 < size < 1 << 32 for size in sizes):
        raise Refused(f"{what}: sizes are at least 1 and below 2**32, not {sizes}")
    return sizes


def _padded(sizes, dimensions):
    return (c_uint32 * dimensions)(*sizes, *[1] * (dimensions - len(sizes)))


def _set_argument(kernel, index, value):
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


def _set_bytes(kernel, index, value):
    try:
        data = bytes(memoryview(value))
    except TypeError:
        raise Refused(f"argument {index}: a {type(value).__name__} is no argument of a kernel") from None
    _call("kernel_set_bytes", kernel, index, data, len(data))


class Buffer:
    """Memory of a device, made by Device.buffer."""

    def __init__(self, device, data, name=None):
        self._device, self._handle = device, None
        is_size = isinstance(data, int)
        size = data if is_size else memoryview(data).nbytes
        if not 0 <= size < 1 << 64:
            raise Refused(f"a buffer cannot have {size} bytes")
        handle = c_void_p()
        _call("buffer_create", device._open(), None if name is None else _bytes(name), size, byref(handle))
        self._handle = handle
        if not is_size:
            self.write(data)

    def __len__(self):
        return _library.heddle_buffer_bytes(self._open())

    def _open(self):
        self._device._open()
        return self._handle

    def write(self, data, offset=0):
        """Puts data with the buffer protocol into it, from byte `offset` on."""
        view = memoryview(data)
        data = view if view.c_contiguous and not view.readonly else view.tobytes()
        size = view.nbytes
        at = (ctypes.c_char * size).from_buffer(data) if isinstance(data, memoryview) else data
        _call("buffer_write", self._open(), offset, ctypes.cast(at, c_void_p), size)

    def read(self, offset=0, size=None):
        """`size` of its bytes, to its end unless given."""
        size = max(len(self) - offset, 0) if size is None else size
        data = bytearray(size)
        self.read_into(data, offset)
        return bytes(data)

    def read_into(self, target, offset=0):
        """Fills a writable object with the buffer protocol, such as a NumPy array."""
        view = memoryview(target)
        if view.readonly or not view.c_contiguous:
            raise Refused("the target must be writable and in one piece")
        at = (ctypes.c_char * view.nbytes).from_buffer(view)
        _call("buffer_read", self._open(), offset, ctypes.cast(at, c_void_p), view.nbytes)

    def array(self, typecode):
        """All of it as an array.array: "f" floats, "i" ints, ..."""
        return array.array(typecode, self.read())

    def free(self):
        """Gives the memory back; the buffer then refuses everything."""
        _library.heddle_buffer_free(self._open())
