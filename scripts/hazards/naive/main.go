// Command naive uses libraries as one would at first sight, and as Umbra never
// does, so that the tests beside it can show what that leads to. It is a module
// of its own: the program depends on none of what this needs.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/urfave/cli/v2"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run does what the first argument says, with the repository in the second.
func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: naive init|checkout|status|refs|update|read DIR [ID] | naive flags ARGUMENT...")
	}
	if args[0] == "flags" {
		return flags(args[1:])
	}
	if args[0] == "init" {
		store := filesystem.NewStorage(osfs.New(args[2]), cache.NewObjectLRUDefault())
		_, err := git.Init(store, osfs.New(args[1]))
		return err
	}
	repo, err := git.PlainOpen(args[1])
	if err != nil {
		return err
	}
	switch args[0] {
	case "checkout":
		return checkout(repo, args[2])
	case "status":
		return status(repo)
	case "refs":
		return refs(repo)
	case "update":
		return update(repo, args[2])
	case "read":
		return read(repo, args[2])
	}
	return fmt.Errorf("naive %s is unknown", args[0])
}

func checkout(repo *git.Repository, id string) error {
	tree, err := repo.Worktree()
	if err != nil {
		return err
	}
	return tree.Checkout(&git.CheckoutOptions{Hash: plumbing.NewHash(id), Force: true})
}

// status prints the untracked files.
func status(repo *git.Repository) error {
	tree, err := repo.Worktree()
	if err != nil {
		return err
	}
	all, err := tree.Status()
	for name, s := range all {
		if s.Worktree == git.Untracked {
			fmt.Println(name)
		}
	}
	return err
}

// refs prints the names of all refs.
func refs(repo *git.Repository) error {
	all, err := repo.References()
	if err != nil {
		return err
	}
	return all.ForEach(func(ref *plumbing.Reference) error {
		fmt.Println(ref.Name())
		return nil
	})
}

// update writes one ref until it is killed, and says when it begins.
func update(repo *git.Repository, id string) error {
	fmt.Println("begin")
	for {
		if err := repo.Storer.SetReference(plumbing.NewHashReference("refs/agents/one", plumbing.NewHash(id))); err != nil {
			return err
		}
	}
}

// read reads an object at each line of its input.
func read(repo *git.Repository, id string) error {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		_, err := repo.Storer.EncodedObject(plumbing.AnyObject, plumbing.NewHash(id))
		fmt.Println(err)
	}
	return nil
}

// flags prints what urfave/cli makes of a command line.
func flags(args []string) error {
	app := &cli.App{
		Flags: []cli.Flag{&cli.StringFlag{Name: "name"}, &cli.StringSliceFlag{Name: "env"}},
		Action: func(c *cli.Context) error {
			fmt.Printf("name=%s env=%s args=%s\n", c.String("name"), strings.Join(c.StringSlice("env"), "|"), strings.Join(c.Args().Slice(), "|"))
			return nil
		},
	}
	return app.Run(append([]string{"naive"}, args...))
}
