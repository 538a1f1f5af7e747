package remotes

import "testing"

// TestSaysPassword: a password is found wherever it stands, and an '@' in a path is none.
func TestSaysPassword(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]bool{
		"ada:hunter2@git.example.com/a.git": true,
		"ada:hunt/er2@git.example.com/a":    true,
		"ada:/hunter2@git.example.com":      true,
		"ada:hunt er2@git.example.com":      true,
		"ada:hunt?er2@git.example.com/a":    true,
		"ada:hunt#/er2@git.example.com/a":   true,
		"ada:hunter2@[::1]:80/a@b":          true,
		"ada@git.example.com/a.git":         false,
		"ada@git.example.com:22/a@b":        false,
		"git.example.com/a@b":               false,
		"git.example.com/a:b@c":             false,
		"git.example.com:8443/a@b":          false,
		"[::1]/a@b":                         false,
		"git@[::1]:22/a@b":                  false,
		"/srv/a:b@c.git":                    false,
		"ada@":                              false,
		"":                                  false,
	} {
		if got := saysPassword(rest); got != want {
			t.Errorf("%q: %t", rest, got)
		}
	}
}

// TestFilePath: an address file://… leads where git goes by it.
func TestFilePath(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]string{
		"/srv/a b.git":        "/srv/a b.git",
		"/srv/a%20b%2egit":    "/srv/a b.git",
		"%2Fsrv%2fa.git":      "/srv/a.git",
		"localhost/srv/a.git": "/srv/a.git",
		"/srv/%zz%4%00%":      "/srv/%zz%4%00%",
		"":                    "/",
	} {
		if got := filePath(rest); got != want {
			t.Errorf("%q is %q, not %q", rest, got, want)
		}
	}
}
