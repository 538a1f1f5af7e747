package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

const hello = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"

// measureStart measures what every command pays before it does anything.
func measureStart(ctx context.Context, b *bench) error {
	dir, err := b.dir("hello")
	if err != nil {
		return err
	}
	source, binary := filepath.Join(dir, "hello.go"), filepath.Join(dir, "hello")
	if err := os.WriteFile(source, []byte(hello), 0o644); err != nil {
		return err
	}
	build := lab.Command{Args: []string{"go", "build", "-o", binary, source}, Dir: dir, Env: append(os.Environ(), "CGO_ENABLED=0")}
	if _, _, err := build.Run(ctx); err != nil {
		return err
	}
	u, err := b.home("start")
	if err != nil {
		return err
	}
	var own, peers lab.Costs
	for range b.samples(60, 10) {
		cost, _, err := u.Run(ctx, dir, "--version")
		if err != nil {
			return err
		}
		own = append(own, cost)
		cost, _, err = lab.Command{Args: []string{binary}, Dir: dir, Env: os.Environ()}.Run(ctx)
		if err != nil {
			return err
		}
		peers = append(peers, cost)
	}
	f := b.goal("P13")
	f.add(line{"`umbra --version`", own, []peer{{"a Go hello", peers}}})
	f.most("over a Go hello", 1/lab.Ratio(own.Walls(), peers.Walls()), 5, "×")
	return nil
}

// samples is how often something is measured.
func (b *bench) samples(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}

// large is the tree that stands for large ones.
func (b *bench) large() string {
	if b.quick {
		return "T10k"
	}
	return "T100k"
}
