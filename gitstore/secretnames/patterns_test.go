package secretnames

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// TestSecretPatternsMatchAsGlobs holds what is matched in a simpler way against
// path.Match, which says what the patterns mean.
func TestSecretPatternsMatchAsGlobs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	text := func(letters string) string {
		var b strings.Builder
		for range random.IntN(6) {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	patterns := append(Defaults(), "", "*", "a*a", "**", "a**", "a?", "[ab]*", `a\*`, "\xff*\xfe", "[")
	for range 300 {
		patterns = append(patterns, text("ab.*"))
	}
	shapes := map[secretShape]int{}
	for _, pattern := range patterns {
		if strings.Contains(pattern, "/") {
			continue // TestSecretPatternsWithDirectories
		}
		compiled := Compile([]string{pattern})[0]
		shapes[compiled.shape]++
		glob := strings.ToLower(strings.TrimPrefix(pattern, "!"))
		names := []string{"", "a", "aa", "aba", "a*", "\xff\xfe", "\xffa\xfe", glob, "x" + glob, glob + "x", strings.ReplaceAll(glob, "*", "ab"), strings.ReplaceAll(glob, "*", "")}
		for range 50 {
			names = append(names, text("ab."))
		}
		for _, name := range names {
			want, err := path.Match(glob, name)
			if got := compiled.matches(name); got != (want && err == nil) {
				t.Errorf("%q matches %q: %t", pattern, name, got)
			}
		}
	}
	for _, shape := range []secretShape{anyGlob, wholeName, headAndTail} {
		if shapes[shape] == 0 {
			t.Errorf("no pattern of shape %d was tried", shape)
		}
	}
}

// TestSecretPatternsWithDirectories: a pattern with slashes is for the directories that
// it names, wherever they are; with one at its beginning for the workspace's own.
func TestSecretPatternsWithDirectories(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern string
		in, out []string
	}{
		{"vault/*", []string{"vault/a", "x/Vault/a.txt"}, []string{"a", "vault", "vault/x/a", "myvault/a"}},
		{"a/*/c", []string{"a/b/c", "x/y/a/b/c"}, []string{"a/c", "b/c", "a/b/x/c", "c"}},
		{"/auth.json", []string{"auth.json", "AUTH.json"}, []string{"a/auth.json"}},
		{"/a/b", []string{"a/b"}, []string{"b", "x/a/b", "a/a/b"}},
		{"a/b", []string{"a/b", "a/b.bak", "a/B~"}, []string{"b", "a/bb", "aa/b"}},
	} {
		for _, file := range tt.in {
			if !IsSecret([]string{tt.pattern}, file) || IsSecret([]string{tt.pattern, "!" + tt.pattern}, file) {
				t.Errorf("%q does not match %q", tt.pattern, file)
			}
		}
		for _, file := range tt.out {
			if IsSecret([]string{tt.pattern}, file) {
				t.Errorf("%q matches %q", tt.pattern, file)
			}
		}
	}
}
