#!/usr/bin/env bash
# Deploy the service.
set -eu

source ./common.sh
. "$(dirname "$0")/hosts.sh"
. "$HERE/keys.sh"

readonly retries=3
declare -r port=80
TARGET=production
other=1

# Copy files
# to the host.
copy_files() {
  local host=$(pick_host "$1") LIMIT=2
  docker-compose up | tee "$LOG"
}

function restart { copy_files; }
