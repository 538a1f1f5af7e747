package usergit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

func (r *testRepo) configuration(env ...string) *Configuration {
	r.t.Helper()
	home := filepath.Dir(r.dir)
	base := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
	c, err := ReadConfiguration(r.t.Context(), r.dir, r.discover(), append(base, env...), patience.Of(time.Minute))
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func TestConfiguration(t *testing.T) {
	r := newRepo(t)
	home := filepath.Dir(r.dir)
	c := r.configuration()
	if c.Name != DefaultName || c.Email != DefaultEmail || !c.Git {
		t.Errorf("without settings: %+v", c)
	}
	if want := filepath.Join(home, ".config/git/ignore"); c.Excludes != want {
		t.Errorf("excludes %s, want %s", c.Excludes, want)
	}
	if c := r.configuration("XDG_CONFIG_HOME=" + home + "/xdg"); c.Excludes != filepath.Join(home, "xdg/git/ignore") {
		t.Errorf("excludes %s", c.Excludes)
	}
	r.write("../.gitconfig", "[user]\n name = \" Jane <x>\\nDoe\"\n email = jane@example.org\n[include]\n path = more\n")
	r.write("../more", "[core]\n excludesFile = ~/my ignore\n[http]\n extraHeader = secret\n[filter \"Lfs\"]\n required\n")
	r.git("config", "core.ignoreCase", "true")
	c = r.configuration()
	if c.Name != "Jane xDoe" || c.Email != "jane@example.org" || !c.IgnoreCase || !c.values.boolean("filter.Lfs.required") {
		t.Errorf("%+v", c)
	}
	if c.Excludes != filepath.Join(home, "my ignore") {
		t.Errorf("excludes %s", c.Excludes)
	}
	if _, ok := c.Value("http.extraheader"); ok {
		t.Error("a credential is kept")
	}
	for _, want := range []string{home + "/.gitconfig", home + "/more", r.dir + "/.git/config", r.dir + "/.git/config.worktree", home + "/.config/git/config"} {
		if !slices.Contains(c.Files, want) {
			t.Errorf("%s is not among %v", want, c.Files)
		}
	}
	r.git("config", "core.excludesFile", "")
	if c := r.configuration(); c.Excludes != "" {
		t.Errorf("turned off: %s", c.Excludes)
	}
	r.git("config", "core.excludesFile", "rel/ignore")
	if c := r.configuration(); c.Excludes != filepath.Join(r.dir, "rel/ignore") {
		t.Errorf("relative: %s", c.Excludes)
	}
	if c := r.configuration("GIT_CONFIG_SYSTEM="+home+"/etc/gitconfig", "GIT_CONFIG_NOSYSTEM=0"); c.Attributes[0] != filepath.Join(home, ".config/git/attributes") || c.Attributes[1] != "/etc/gitattributes" {
		t.Errorf("attributes %v", c.Attributes)
	}
	r.write("../etc/gitconfig", "[core]\n attributesFile = ~/my attributes\n")
	c = r.configuration("GIT_CONFIG_SYSTEM="+home+"/etc/gitconfig", "GIT_CONFIG_NOSYSTEM=0")
	if want := []string{home + "/my attributes", "/etc/gitattributes", home + "/etc/gitattributes"}; !slices.Equal(c.Attributes, want) {
		t.Errorf("attributes %v, want %v", c.Attributes, want)
	}
	r.git("config", "core.excludesFile", "~no-such-user/x")
	if c = r.configuration(); c.Unread == nil || c.Excludes != home+"/.config/git/ignore" {
		t.Errorf("of a home of nobody: %v, excludes %s", c.Unread, c.Excludes)
	}
}

// TestConfigurationThatComesLater: files that are included on another branch, or are
// not there yet, and HEAD, which decides it, are among those that an answer depends on.
func TestConfigurationThatComesLater(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "x")
	home := filepath.Dir(r.dir)
	r.git("config", "include.path", "../later")
	if files := r.configuration().Files; !slices.Contains(files, filepath.Join(r.dir, "later")) || slices.Contains(files, r.dir+"/.git/HEAD") {
		t.Errorf("files %v", files)
	}
	r.git("config", "includeIf.onbranch:topic.path", "~/topic")
	for _, want := range []string{home + "/topic", r.dir + "/.git/HEAD"} {
		if files := r.configuration().Files; !slices.Contains(files, want) {
			t.Errorf("%s is not among %v", want, files)
		}
	}
}

func TestConfigurationIgnoresInjection(t *testing.T) {
	r := newRepo(t)
	other := newRepo(t)
	other.git("config", "user.name", "Mallory")
	c := r.configuration("GIT_DIR="+other.dir+"/.git", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Mallory",
		"GIT_CONFIG_PARAMETERS='user.name=Mallory'", "GIT_CONFIG="+other.dir+"/.git/config", "GIT_TRACE=1")
	if c.Name != DefaultName {
		t.Errorf("the name is %s", c.Name)
	}
}

func TestConfigurationWithoutGit(t *testing.T) {
	r := newRepo(t)
	r.git("config", "core.ignoreCase", "true")
	r.git("config", "user.name", "Jane")
	c := r.configuration("PATH=/nonexistent:.")
	if c.Git || c.Name != DefaultName || c.Email != DefaultEmail || !c.IgnoreCase {
		t.Errorf("%+v", c)
	}
	if want := filepath.Join(filepath.Dir(r.dir), ".config/git/ignore"); c.Excludes != want {
		t.Errorf("excludes %s, want %s", c.Excludes, want)
	}
}

func TestConfigurationOutsideRepository(t *testing.T) {
	dir := t.TempDir()
	c, err := ReadConfiguration(t.Context(), dir, nil, testEnv(dir), Patience)
	if err != nil || !c.Git || c.Name != DefaultName {
		t.Errorf("%+v, %v", c, err)
	}
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("[core\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err = ReadConfiguration(t.Context(), dir, nil, append(testEnv(dir), "GIT_CONFIG_GLOBAL="+bad), Patience)
	if err != nil || c.Unread == nil || !strings.Contains(c.Unread.Error(), "bad config") || c.Excludes != dir+"/.config/git/ignore" {
		t.Errorf("a bad file: %+v, %v", c, err)
	}
}

// TestConfigurationOfDamagedRepository: what is the user's own counts where the
// repository's configuration can't be read.
func TestConfigurationOfDamagedRepository(t *testing.T) {
	r := newRepo(t)
	r.write("../.gitconfig", "[user]\n name = Jane\n[core]\n excludesFile = ~/mine\n")
	r.write(".git/config", "[broken")
	c := r.configuration()
	if c.Unread == nil || !strings.Contains(c.Unread.Error(), "bad config line") {
		t.Errorf("it says %v", c.Unread)
	}
	if c.Name != "Jane" || c.Excludes != filepath.Dir(r.dir)+"/mine" || !slices.Contains(c.Files, r.dir+"/.git/config") {
		t.Errorf("%+v", c)
	}
}

const oddConfig = "\xef\xbb\xbf; comment \\\n[Core]\n\tBare = \"tr\"ue # x\n" +
	"[core] key1 = a \\\n  b   ; c\r\n[sub \"A \\\"b\\\\c]\"]\nx=\"# not a comment \" tail  \nflag\nempty =\nesc = a\\tb\\n\\\\\n[old.SUB]\ny = 1\n"

func TestParseSettingsAsGit(t *testing.T) {
	r := newRepo(t)
	path := filepath.Join(filepath.Dir(r.dir), "odd")
	r.write("../odd", oddConfig)
	got, line := parseSettings([]byte(oddConfig))
	if line != 0 {
		t.Fatalf("bad line %d", line)
	}
	out := r.git("config", "--list", "-z", "-f", path)
	want := settings{}
	for setting := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, ok := strings.Cut(setting, "\n")
		if !ok {
			value = "true"
		}
		want[key] = append(want[key], value)
	}
	for key := range want {
		if !slices.Equal(got[key], want[key]) {
			t.Errorf("%s: %q, want %q", key, got[key], want[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d keys, want %d: %q", len(got), len(want), got)
	}
	for _, bad := range []string{"[a\nb = c\n", "b = c\n", "[a]\n= c\n", "[a]\nb = \"c\n", "[a]\nb = \\q\n", "[a \"b]\n", "[a]\nb c\n", "[]\n"} {
		if _, line := parseSettings([]byte(bad)); line == 0 {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzParseSettings(f *testing.F) {
	f.Add([]byte(oddConfig))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, line := parseSettings(data)
		if line == 0 {
			s.boolean("core.bare")
		}
	})
}
