package capture

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckPlace refuses what is to be made where it could be no workspace.
func TestCheckPlace(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, dir := range []string{
		"umbra/trash", "repo/.git", "bare.git/objects", "bare.git/refs", "odd/.git.nosync/objects", "odd/.git.nosync/refs",
		"hub.git/objects", "hub.git/refs", "hub.git/worktrees/a",
	} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("umbra/trash", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"bare.git/HEAD", "odd/.git.nosync/HEAD", "odd/.git.nosync/index", "hub.git/HEAD"} {
		if err := os.WriteFile(filepath.Join(base, file), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		root string
		want RootReason
	}{
		{"bare.git", ""}, {"bare.git/objects/k", RootInGitDirectory}, {"bare.git/refs", RootInGitDirectory}, {"bare.git/hooks/k", RootInGitDirectory},
		{"odd/.git.nosync", RootInGitDirectory}, {"odd/.git.nosync/k/l", RootInGitDirectory}, {"odd/k", ""},
		{"hub.git", RootInGitDirectory}, {"hub.git/feature/k", ""}, {"hub.git/worktrees/a/k", RootInGitDirectory},
		{"new", ""}, {"new/deep/er", ""}, {"bare.git/worktree", ""}, {"/dev/shm/umbra-none/x", ""},
		{"umbra/trash/k", RootInUmbraHome}, {"umbra/forks/app/k", RootInUmbraHome}, {"link/k", RootInUmbraHome},
		{"repo/.git", RootInGitDirectory}, {"repo/.git/worktrees/k", RootInGitDirectory}, {"new/.GIT/k", RootInGitDirectory},
		{"caf\xe9", RootIsNoText}, {"caf\xe9/k", RootIsNoText}, {"caf\u00e9", ""},
		{"/boot/k/l", RootInSystemDirectory}, {"/proc/k", RootOnPseudoSystem},
	} {
		root := c.root
		if !filepath.IsAbs(root) {
			root = filepath.Join(base, root)
		}
		for _, force := range []bool{false, true} {
			want := c.want
			if force && want.Overridable() {
				want = ""
			}
			err := CheckPlace(RootCheck{Root: root, UmbraHome: filepath.Join(base, "umbra"), Force: force})
			var refused *RootError
			if want == "" && err != nil || want != "" && (!errors.As(err, &refused) || refused.Reason != want) {
				t.Errorf("%s, force %v: got %v, want %q", c.root, force, err, want)
			}
		}
	}
}

func TestCheckRoot(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"u/home/.local/share/umbra/projects", "u/home/work", "elsewhere", "other-umbra/x"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"to-home": "u/home", "to-umbra": "u/home/.local/share/umbra/projects", "to-usr": "/usr/share/..", "dangling": "nowhere"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		root, umbra string
		want        RootReason
	}{
		{"u/home/work", "", ""},
		{"elsewhere", "", ""},
		{"elsewhere", "elsewhere/later/umbra", RootHoldsUmbraHome},
		{"u/home", "", RootIsHome},
		{"to-home", "", RootIsHome},
		{"u", "", RootAboveHome},
		{"", "", RootAboveHome},
		{"u/home/.local", "", RootHoldsUmbraHome},
		{"u/home/.local/share/umbra", "", RootIsUmbraHome},
		{"u/home/.local/share/umbra/projects", "", RootInUmbraHome},
		{"to-umbra", "", RootInUmbraHome},
		{"missing", "", RootMissing},
		{"dangling", "", RootMissing},
		{"file", "", RootNotDirectory},
		{"/", "", RootIsFileSystem},
		{"/proc", "", RootOnPseudoSystem},
		{"/proc/self", "", RootOnPseudoSystem},
		{"/sys/kernel", "", RootOnPseudoSystem},
		{"/run", "", RootInSystemDirectory},
		{"/boot", "", RootInSystemDirectory},
		{"/etc", "", RootOfSystem},
		{"/usr", "", RootOfSystem},
		{"/var", "", RootOfSystem},
		{"/var/tmp", "", RootOfSystem},
		{"to-usr", "", RootOfSystem},
	} {
		root := c.root
		if !filepath.IsAbs(root) {
			root = at(root)
		}
		umbra := at("u/home/.local/share/umbra")
		if c.umbra != "" {
			umbra = at(c.umbra)
		}
		for _, force := range []bool{false, true} {
			want := c.want
			if force && want.Overridable() {
				want = ""
			}
			var place *RootError
			if err := CheckPlace(RootCheck{Root: root, Home: at("u/home"), UmbraHome: umbra, Force: force}); want != RootMissing && (err != nil) != (want != "") || err != nil && (!errors.As(err, &place) || place.Reason != want) {
				t.Errorf("as a place, %s, force %v: got %v, want %q", c.root, force, err, want)
			}
			id, err := CheckRoot(RootCheck{Root: root, Home: at("u/home"), UmbraHome: umbra, Force: force})
			var refused *RootError
			switch {
			case want == "" && (err != nil || id.Inode == 0):
				t.Errorf("%s, force %v: %v", c.root, force, err)
			case want != "" && (!errors.As(err, &refused) || refused.Reason != want):
				t.Errorf("%s, force %v: got %v, want %q", c.root, force, err, want)
			}
		}
	}
}
