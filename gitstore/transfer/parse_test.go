package transfer

import (
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/git"
)

// TestParsePush: what git says of each ref, and nothing of the others.
func TestParsePush(t *testing.T) {
	t.Parallel()
	refused, taken := parsePush([]byte("To /r.git\n*\t1:refs/umbra/a\t[new reference]\n!\t2:refs/umbra/b\t[rejected] (fetch first)\n=\t3:refs/umbra/c\t[up to date]\nnoise\nDone\n"))
	if len(refused) != 1 || refused["refs/umbra/b"] != "[rejected] (fetch first)" {
		t.Errorf("refused %q", refused)
	}
	if len(taken) != 2 || !taken["refs/umbra/a"] || !taken["refs/umbra/c"] {
		t.Errorf("taken %v", taken)
	}
}

func TestWithoutPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://ada:pa@ss:word@git.example.com/a@b.git": "https://git.example.com/a@b.git",
		"https://token@git.example.com":                  "https://git.example.com",
		"ssh://git@git.example.com/team.git":             "ssh://git@git.example.com/team.git",
		"git+ssh://git:secret@git.example.com:22/a.git":  "git+ssh://git@git.example.com:22/a.git",
		"ssh://@git.example.com/":                        "ssh://git.example.com/",
		"git@git.example.com:team/app.git":               "git@git.example.com:team/app.git",
		"file:///srv/git@home.git":                       "file:///srv/git@home.git",
		"no 'http://a:b@c/': ask x@y, not ssh://d:e@f":   "no 'http://c/': ask x@y, not ssh://d@f",
		"https://ada:pa/ss@git.example.com/a.git":        "https://git.example.com/a.git",
		"https://ada:/pass@git.example.com":              "https://git.example.com",
		"https://ada:pa/s/s@w@[::1]:80/a.git":            "https://[::1]:80/a.git",
		"ssh://git:pa/ss@git.example.com/a.git":          "ssh://git@git.example.com/a.git",
		"https://git.example.com:8443/a@b.git":           "https://git.example.com:8443/a@b.git",
		"https://[::1]/a@b.git":                          "https://[::1]/a@b.git",
		"https://ada:word@[::1]:8443/a@b.git":            "https://[::1]:8443/a@b.git",
		"at 'https://a:b/c@d:1/x/': ask x@y, or ssh://":  "at 'https://d:1/x/': ask x@y, or ssh://",
		"https://a:b/c x@y":                              "https://a:b/c x@y",
		"":                                               "",
		"://":                                            "://",
		"a://":                                           "a://",
	} {
		if got := WithoutPassword(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

// TestErrorIsOneLine: what git and ssh print over several lines, with empty ones between.
func TestErrorIsOneLine(t *testing.T) {
	err := &Error{URL: "ssh://h/r", Err: &git.Error{Stderr: "ssh: refused\r\nfatal: no\n\nPlease look\nat it.\n"}}
	if want := "ssh://h/r: ssh: refused; fatal: no; Please look; at it."; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
