"""Cut the network off: with this folder on PYTHONPATH, Python reaches nothing beyond this machine.

``make test`` sets it, so tests, notebook kernels and the processes they start prove that the course works offline.
"""

import ipaddress
import socket


def _local(address) -> bool:
    if not isinstance(address, tuple):  # a Unix socket
        return True
    host = address[0].split("%")[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("localhost", "", socket.gethostname())


def _guarded(connect):
    def guarded(self, address):
        if not _local(address):
            raise OSError(f"the tests run offline, and something wants to reach {address[0]}")
        return connect(self, address)

    return guarded


socket.socket.connect = _guarded(socket.socket.connect)
socket.socket.connect_ex = _guarded(socket.socket.connect_ex)
