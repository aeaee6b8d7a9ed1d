"""Something to compute, with a clock read now and then: primes, words, JSON."""
import collections
import hashlib
import json
import time

started = time.monotonic()
ticks = 0


def primes(limit):
    sieve = bytearray([1]) * limit
    for n in range(2, int(limit ** 0.5) + 1):
        if sieve[n]:
            sieve[n * n::n] = bytes(len(range(n * n, limit, n)))
    return [n for n in range(2, limit) if sieve[n]]


words = collections.Counter()
for i, prime in enumerate(primes(5_000_000)):
    words[f"{prime % 9973:x}"] += prime
    if i % 100 == 0:
        ticks += time.monotonic() >= started
text = json.dumps(sorted(words.items()))
total = 0
for _ in range(100):
    total += sum(value for _, value in json.loads(text)) % 1_000_003
print(ticks, total, hashlib.sha256(text.encode()).hexdigest())
