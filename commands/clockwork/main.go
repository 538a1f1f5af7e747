// Command clockwork is umbra with a clock that can be set back: a file "clock"
// in the user's home says by how much it is wrong, as a Go duration. It is what
// scripts/endure tries, and must not differ from main in anything else.
package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/commands"
)

func main() { os.Exit(commands.Main(now)) }

func now() time.Time {
	// Without the monotonic reading: what is written down as a time has none.
	right := time.Now().Round(0)
	text, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), "clock"))
	if err != nil {
		return right
	}
	wrong, err := time.ParseDuration(string(text))
	if err != nil {
		return right
	}
	return right.Add(wrong)
}
