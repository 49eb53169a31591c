#!/usr/bin/env bash
# Installs what the two judges need, beside them. Safe to run again: what is there stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
command -v npm >/dev/null || { echo "tests/official/setup.sh: npm is needed to install the official packages, and was not found" >&2; exit 1; }

# The readers and the compaction engine of format 0, and a node that knows zstd.
stamp=node_modules/.dshc-lock
if ! cmp -s package-lock.json "$stamp"; then
  npm ci --ignore-scripts --no-audit --no-fund
  cp package-lock.json "$stamp"
fi

# The frozen codecs of formats 0 to 3. They ask for versions of each other that were never published, so no resolver can
# install them: their archives are fetched and unpacked one by one, and their dsh-llm is a stand-in of our own.
scope=strict/node_modules/@deepseek-ai
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r name version; do
  dest=$scope/$name
  grep -qs "\"version\": \"$version\"" "$dest/package.json" && continue
  (cd "$work" && npm pack --silent --ignore-scripts "@deepseek-ai/$name@$version" >/dev/null)
  rm -rf "$dest" "$work/package"
  tar -xzf "$work/deepseek-ai-$name-$version.tgz" -C "$work"
  mkdir -p "$scope"
  mv "$work/package" "$dest"
done <<'LIST'
dsh-session-format 0.1.3-alpha.2
dsh-session-format-v0-to-v1 0.1.3-alpha.2
dsh-session-format-v1-to-v2 0.1.3-alpha.2
dsh-session-format-v2-to-v3 0.1.5-alpha.1
dsh-util-values 0.1.2-alpha.2
LIST
rm -rf "$scope/dsh-llm"
cp -R strict/llm-stand-in "$scope/dsh-llm"
