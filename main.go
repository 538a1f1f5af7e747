// Command umbra snapshots, restores and forks the work of AI coding agents.
package main

import (
	"os"
	"time"

	"github.com/umbra-vcs/umbra/commands"
)

func main() { os.Exit(commands.Main(time.Now)) }
