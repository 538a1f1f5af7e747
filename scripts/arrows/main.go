// Command arrows checks that every import follows the arrows of the design and
// that each third-party package has one importing package. It owns the table
// of both; it reads only what `go list` says.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "arrows:", err)
		os.Exit(1)
	}
}

// run lists the packages of the module in the current directory as each
// system sees them, since build tags hide imports from the others.
func run(out io.Writer) error {
	var all []pkg
	for _, system := range []string{"linux", "darwin", "windows"} {
		pkgs, err := goList(system)
		if err != nil {
			return err
		}
		all = append(all, pkgs...)
	}
	bad := violations(all)
	for _, line := range bad {
		fmt.Fprintln(out, line)
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d imports against the design", len(bad))
	}
	return nil
}

func goList(system string) ([]pkg, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w: %s", system, err, stderr.String())
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}
