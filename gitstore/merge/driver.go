package merge

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Driver is a program that merges the texts of a path in Git's stead, see gitattributes(5).
// The zero value is Git's own.
type Driver struct {
	Name    string `json:"name,omitempty"`
	Program string `json:"program,omitempty"` // its path
}

// arguments are how a driver that is known wants to be called, as its documentation says:
// https://mergiraf.org/usage.html and https://github.com/Ataraxy-Labs/weave.
func (d Driver) arguments() string {
	switch d.Name {
	case "mergiraf":
		return "merge --git %O %A %B -p %P -l %L"
	case "weave":
		return "%O %A %B %L %P"
	}
	return ""
}

// config has git merge with the driver in a scratch, and gives the settings that go with it.
func (d Driver) config(scratch *shadow.Store) ([]string, error) {
	args := d.arguments()
	if args == "" {
		return nil, nil
	}
	info := filepath.Join(scratch.Dir(), "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte("* merge="+d.Name+"\n"), 0o600); err != nil {
		return nil, err
	}
	quoted := "'" + strings.ReplaceAll(d.Program, "'", `'\''`) + "'"
	return []string{"merge." + d.Name + ".name=" + d.Name, "merge." + d.Name + ".driver=" + strings.ReplaceAll(quoted, "%", "%%") + " " + args}, nil
}
