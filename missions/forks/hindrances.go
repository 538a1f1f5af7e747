package forks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions/home"
)

// hindranceNotes say what does not work in a fork as it does in its source, and what
// mends that; repo is the source's, nil without one.
func hindranceNotes(made *fork.Made, repo *usergit.Repository) (notes []string) {
	if keys, place := cryptKeys(made, repo); keys != "" {
		notes = append(notes, fmt.Sprintf("git-crypt finds no key in the fork's worktree, so git status, add and diff fail there where a file is encrypted, "+
			"until: ln -s %s %s", home.ShellQuote(keys), home.ShellQuote(place)))
	}
	if made.Annexed > 0 {
		note := fmt.Sprintf("the links of git-annex (%d) lead nowhere in the fork", made.Annexed)
		if made.Branch != "" {
			note += ", until a command of git-annex was run there, such as: git annex info --fast"
		}
		notes = append(notes, note)
	}
	if links := len(made.LinksIn); links > 0 {
		named := strings.Join(made.LinksIn[:min(links, mostNamed)], ", ")
		if links > mostNamed {
			named += fmt.Sprintf(" and %d more", links-mostNamed)
		}
		notes = append(notes, "links by an absolute path lead from the fork into the source's workspace: "+named)
	}
	return notes
}

// mostNamed is how many links a note names.
const mostNamed = 3

// cryptKeys is where git-crypt has its keys in the source's repository, and where it looks
// for them in the fork: in the git directory of each worktree (git-crypt's issue 105).
// Both are "" where git-crypt is not used.
func cryptKeys(made *fork.Made, repo *usergit.Repository) (keys, place string) {
	if repo == nil || !made.GitCrypt {
		return "", ""
	}
	own, err := usergit.At(made.Worktree)
	if err != nil {
		return "", "" // the proof of the worktree says what is wrong with it
	}
	keys = filepath.Join(repo.GitDir, "git-crypt")
	if _, err := os.Stat(keys); err != nil {
		keys = filepath.Join(repo.CommonDir, "git-crypt")
	}
	return keys, filepath.Join(own.GitDir, "git-crypt")
}
