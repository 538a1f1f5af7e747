package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// apiKey is a secret, by the option that it is the value of.
const apiKey = "kW93hQz7Lp2xVb8Nt4Rm"

// keyed is the command of missions that are forked and killed as they begin.
func keyed() []string { return []string{"true", "--api-key", apiKey} }

// hasKey checks that the secret of a mission's command, which no record has, was kept.
func hasKey(u *lab.Umbra, m lab.Mission) error {
	kept, err := os.ReadFile(filepath.Join(u.Base, "umbra", "journal", "private", m.ID))
	if err == nil && !strings.Contains(string(kept), apiKey) {
		err = fmt.Errorf("it is %q", kept)
	}
	if err != nil {
		return fmt.Errorf("the command of mission %s is lost: %w", m.Name, err)
	}
	return nil
}
