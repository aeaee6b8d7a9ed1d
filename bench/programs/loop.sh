#!/bin/bash
# A shell loop: arithmetic, command substitutions (a fork each), now and then a pipeline (forks and execs).
sum=0
for ((i = 0; i < 300; ++i)); do
  for ((j = 0; j < 300; ++j)); do ((sum += i * j % 7)); done
  part=$(echo $((sum % 1000)))
  if ((i % 10 == 0)); then part=$(echo "$part" | tr 0-9 a-j | cat); fi
done
echo "$sum $part"
