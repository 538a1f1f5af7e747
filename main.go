// Command umbra snapshots, restores and forks the work of AI coding agents.
package main

import (
	"os"

	"github.com/umbra-vcs/umbra/commands"
)

func main() { os.Exit(commands.Main()) }
