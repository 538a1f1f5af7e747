package beneath

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestCheckPath(t *testing.T) {
	for path, want := range map[string]error{
		"":                               ErrHostilePath,
		"/":                              ErrHostilePath,
		"/etc/passwd":                    ErrHostilePath,
		".":                              ErrHostilePath,
		"..":                             ErrHostilePath,
		"./a":                            ErrHostilePath,
		"a/..":                           ErrHostilePath,
		"a/../b":                         ErrHostilePath,
		"a/./b":                          ErrHostilePath,
		"a//b":                           ErrHostilePath,
		"a/":                             ErrHostilePath,
		"a\x00b":                         ErrHostilePath,
		".git":                           ErrReserved,
		".git/hooks/x":                   ErrReserved,
		"a/.GIT/config":                  ErrReserved,
		"a/git~1":                        ErrReserved,
		".g\u200cit":                     ErrReserved,
		".git ":                          ErrReserved,
		".git...":                        ErrReserved,
		".git . ":                        ErrReserved,
		".git::$INDEX_ALLOCATION":        ErrReserved,
		".git:x":                         ErrReserved,
		`a\.git`:                         ErrReserved,
		"\ufeff.Git":                     ErrReserved,
		"a":                              nil,
		"a/b c/-x":                       nil,
		"...":                            nil,
		"..a":                            nil,
		".gitignore":                     nil,
		".github/x":                      nil,
		"git~2":                          nil,
		"git":                            nil,
		"x.git":                          nil,
		"nul":                            nil,
		"a.":                             nil,
		"\xff\xfe":                       nil,
		":(glob)*":                       nil,
		"new\nline":                      nil,
		strings.Repeat("d/", 4000) + "f": nil,
	} {
		if err := CheckPath(path); !errors.Is(err, want) {
			t.Errorf("CheckPath(%.40q) = %v, want %v", path, err, want)
		}
	}
}

// Git itself is the model: what its fsck calls hasDotgit must be reserved.
func TestIsGitDisguiseCoversGitFsck(t *testing.T) {
	dir := t.TempDir()
	git := func(stdin []byte, args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Stdin = bytes.NewReader(stdin)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := git(nil, "init", "-q", "--bare"); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	blob, err := git([]byte("x"), "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatalf("hash-object: %v: %s", err, blob)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(blob))
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]string{}
	for _, name := range disguises() {
		tree := append([]byte(fmt.Sprintf("100644 %s\x00", name)), raw...)
		id, err := git(tree, "hash-object", "-t", "tree", "--literally", "-w", "--stdin")
		if err != nil {
			t.Fatalf("hash-object tree %q: %v: %s", name, err, id)
		}
		trees[strings.TrimSpace(id)] = name
	}
	report, _ := git(nil, "fsck", "--full")
	found := 0
	for line := range strings.Lines(report) {
		if !strings.Contains(line, "hasDotgit") {
			continue
		}
		for id, name := range trees {
			if strings.Contains(line, id) {
				found++
				if !IsGitDisguise(name) {
					t.Errorf("git fsck refuses %q, IsGitDisguise does not", name)
				}
			}
		}
	}
	if found < 20 {
		t.Fatalf("git fsck named only %d of %d names:\n%s", found, len(trees), report)
	}
}

func disguises() []string {
	bases := []string{".git", ".GIT", ".gIt", "git~1", "GIT~1", ".gitx", "git~2", ".gi", "x.git"}
	ends := []string{"", " ", ".", ". .", "::$INDEX_ALLOCATION", ":x", `\x`, "\u200c", "\ufeff", "x"}
	var names []string
	for _, base := range bases {
		for _, end := range ends {
			names = append(names, base+end)
		}
		names = append(names, `a\`+base, "\u202a"+base, base[:2]+"\u206f"+base[2:], base[:1]+"\u200e\u202e"+base[1:])
	}
	return names
}

func TestIsInScratch(t *testing.T) {
	t.Parallel()
	name := ScratchName("0b2a4c5e-1111-4222-8333-444455556666", 3)
	for path, want := range map[string]bool{"/a/" + name: true, "/a/" + name + "/b": true, "/a/.umbra-notes/b": false, "/a/b": false, "/": false} {
		if got := IsInScratch(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

func TestScratchNames(t *testing.T) {
	const operation = "0b2a4c5e-1111-4222-8333-444455556666"
	for _, n := range []int{0, 7, 123456} {
		gotOperation, gotN, ok := ParseScratch(ScratchName(operation, n))
		if !ok || gotOperation != operation || gotN != n {
			t.Errorf("ParseScratch(ScratchName(%d)) = %s, %d, %v", n, gotOperation, gotN, ok)
		}
	}
	for _, name := range []string{
		".umbra-notes", ".umbraignore", ".umbra.yml", ".umbra-" + operation, ".umbra-" + operation + "-",
		".umbra-" + operation + "-x", ".umbra-" + operation + "-01", ".umbra-" + operation + "--1",
		".umbra-" + strings.ToUpper(operation) + "-1", "umbra-" + operation + "-1",
	} {
		if _, _, ok := ParseScratch(name); ok {
			t.Errorf("%q counts as a scratch name", name)
		}
	}
}

func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{"a/b", ".git", "a/../b", ".g\u200cit", "git~1 ", `x\.git`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if CheckPath(path) != nil {
			return
		}
		for name := range strings.SplitSeq(path, "/") {
			if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || strings.ContainsRune(name, 0) {
				t.Errorf("CheckPath allows %q", path)
			}
		}
	})
}
