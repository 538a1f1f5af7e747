package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestKeys: every field of Config is described by one key.
func TestKeys(t *testing.T) {
	var c Config
	described := map[any]string{}
	for _, k := range Keys() {
		field := k.field(&c)
		if other, twice := described[field]; twice {
			t.Errorf("%s is the same as %s", k.Name, other)
		}
		described[field] = k.Name
		if k.Help == "" || strings.Count(k.Name, ".") != 1 {
			t.Errorf("%q: %q", k.Name, k.Help)
		}
		if v, err := k.parse([]string{k.example}); err != nil || reflect.DeepEqual(v, zeroOf(k)) {
			t.Errorf("%s: its example %q is its default, or refused: %v", k.Name, k.example, err)
		}
		// What is shown can be typed, and gives the same.
		defaults := Default()
		value, err := k.parse(k.words(defaults))
		if err != nil {
			t.Errorf("%s: its default %q is refused: %v", k.Name, k.words(defaults), err)
			continue
		}
		var again Config
		k.put(&again, value)
		if !reflect.DeepEqual(k.value(again), k.value(defaults)) {
			t.Errorf("%s: %v becomes %v", k.Name, k.value(defaults), k.value(again))
		}
	}
	sections := reflect.ValueOf(&c).Elem()
	for i := range sections.NumField() {
		for j := range sections.Field(i).NumField() {
			if name := described[sections.Field(i).Field(j).Addr().Interface()]; name == "" {
				t.Errorf("no key describes %s.%s", sections.Type().Field(i).Name, sections.Field(i).Type().Field(j).Name)
			}
		}
	}
}

// TestValues: what a file may say, and what is refused, each with its line.
func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"capture:\n  max_file_size: 64MiB\n":                    "",
		"capture: {max_file_size: 1_000, max_files: 3}\n":       "",
		"capture:\nfork:\n":                                     "",
		"capture:\n  max_files:\n":                              "",
		"adopt:\n  include: /a\n":                               "",
		"x: &a [b]\nadopt:\n  include: *a\n":                    `line 1: unknown key "x"`,
		"adopt: &a\n  include: *a\n":                            "line 2: adopt.include takes patterns such as /home/ada/code, not keys and values",
		"capture:\n  max_file_size: 64MX\n":                     `line 2: capture.max_file_size takes a size of at least 1 such as 128MiB, not "64MX"`,
		"capture:\n  max_file_size: 9999999TiB\n":               `not "9999999TiB"`,
		"capture:\n  max_files: 0\n":                            `line 2: capture.max_files takes a number of at least 1 such as 2000000, not "0"`,
		"capture:\n  max_files: [1]\n":                          "line 2: capture.max_files takes a number of at least 1 such as 2000000, not a list",
		"capture:\n  secrets: [{a: b}]\n":                       "capture.secrets takes patterns such as *.p12, not a list of something else",
		"capture:\n  secrets: ['[']\n":                          `takes patterns such as *.p12, not "["`,
		"capture:\n  max_fils: 3\n":                             `line 2: unknown key "max_fils", did you mean capture.max_files?`,
		"capture:\n  max_files: 3\n  max_files: 4\n":            "line 3: capture.max_files is said already in line 2",
		"fork:\n  root: here\n":                                 `line 2: fork.root takes an absolute path such as ~/forks, not "here"`,
		"hooks:\n  tools: maybe\n":                              `hooks.tools takes true or false, not "maybe"`,
		"- a\n":                                                 "line 1: the file must hold keys and values",
		"capture: 3\n":                                          "line 1: capture must hold keys and values",
		"capture:\n  max_files: 3\n---\nfork:\n  root: /x\n":    "line 3: a second document",
		"retention:\n  trash: 23h\n":                            `line 2: retention.trash takes a duration of at least 1d such as 30d, or never, not "23h"`,
		"retention:\n  trash: always\n":                         `line 2: retention.trash takes a duration of at least 1d such as 30d, or never, not "always"`,
		"retention:\n  trash: -1h\n":                            `or never, not "-1h"`,
		"retention:\n  trash: 1d\n":                             "",
		"watch:\n  settle: 0s\n":                                `watch.settle takes a duration above 0 such as 5s, not "0s"`,
		"hooks:\n  max_wait: -1s\nfork:\n  copy_limit: minus\n": `line 2: hooks.max_wait takes a duration such as 10s, not "-1s"; line 4: fork.copy_limit takes a size of at least 0 such as 4GiB, not "minus"`,
	} {
		c := Default()
		_, err := readConfig([]byte(text), Keys(), &c)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	var own Config
	_, err := readConfig([]byte("launch:\n  open: rm\ncapture:\n  max_files: 3\n"), projectKeys(), &own)
	if err == nil || own.Launch.Open != "" || own.Capture.MaxFiles != 3 {
		t.Errorf("a project's file names a command: %v, %+v", err, own)
	}
}

// TestSet changes one key and leaves every other byte as it is, or says
// that only a person can.
func TestSet(t *testing.T) {
	for _, tt := range []struct {
		before, key string
		words       []string
		after       string // "" is refused
	}{
		{"", "capture.max_files", []string{"5"}, "capture:\n  max_files: 5\n"},
		{"# mine\n", "capture.max_file_size", []string{"1MiB"}, "# mine\ncapture:\n  max_file_size: 1MiB\n"},
		{"fork:\n    root: /x # here\n\n# end", "fork.root", []string{"/y z"}, "fork:\n    root: /y z  # here\n\n# end"},
		{"fork:\n    root: /x\n\n# end", "fork.copy_limit", []string{"1GiB"}, "fork:\n    copy_limit: 1GiB\n    root: /x\n\n# end"},
		{"fork:\nhooks:\n  tools: false\n", "fork.root", []string{"~/f"}, "fork:\n  root: ~/f\nhooks:\n  tools: false\n"},
		{"hooks:\n  tools: false", "fork.root", []string{"~/f"}, "hooks:\n  tools: false\nfork:\n  root: ~/f\n"},
		{"capture:\n  secrets:\n    - a\n    - b # two\n  max_files: 3\n", "capture.secrets", []string{"*.x", "# y"}, "capture:\n  secrets: ['*.x', '# y']\n  max_files: 3\n"},
		{"capture:\n  secrets:\n    - a\n    - b # two\n  max_files: 3\n", "capture.secrets", nil, "capture:\n  max_files: 3\n"},
		{"hooks:\n  tools: false\nfork:\n  root: /x\n", "fork.root", nil, "hooks:\n  tools: false\n"},
		{"fork:\n  root: /x\n\n# end\n", "fork.root", nil, "\n# end\n"},
		{"fork: # mine\n  root: /x\n", "fork.root", nil, "fork: # mine\n"},
		{"fork:\n  # why\n  root: /x\n", "fork.root", nil, "fork:\n  # why\n"},
		{"fork:\n  root: /x\n  # why\nhooks:\n  tools: true\n", "fork.root", nil, "fork:\n  # why\nhooks:\n  tools: true\n"},
		{"launch:\n  open: a\r\n", "launch.open", []string{"tmux split 'umbra {id}'"}, "launch:\n  open: tmux split 'umbra {id}'\r\n"},
		{"hooks: {tools: false}\n", "hooks.tools", nil, ""},
		{"hooks: {tools: false}\n", "hooks.max_wait", []string{"3s"}, ""},
		{"launch:\n  open: |\n    a\n    b\n", "launch.open", []string{"c"}, ""},
		{"launch:\n  open: x\n", "launch.open", []string{"two\nlines: #"}, "launch:\n  open: \"two\\nlines: #\"\n"},
	} {
		file := filepath.Join(t.TempDir(), "config.yml")
		if tt.before != "" {
			if err := os.WriteFile(file, []byte(tt.before), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		key, err := FindKey(tt.key)
		if err != nil {
			t.Fatal(err)
		}
		err = Set(file, key, tt.words, false)
		got, _ := os.ReadFile(file)
		switch {
		case tt.after == "" && (err == nil || sortOf(err) != "conflict" || string(got) != tt.before):
			t.Errorf("%q, %s %q: not refused: %v, %q", tt.before, tt.key, tt.words, err, got)
		case tt.after != "" && (err != nil || string(got) != tt.after):
			t.Errorf("%q, %s %q: %q, %v, want %q", tt.before, tt.key, tt.words, got, err, tt.after)
		}
	}
}

// TestSetRefuses: bad values, keys that are not a project's to say, and
// files that are broken already.
func TestSetRefuses(t *testing.T) {
	key := func(name string) Key {
		k, err := FindKey(name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	file := filepath.Join(t.TempDir(), ".umbra.yml")
	if err := Set(file, key("fork.root"), []string{"/a"}, true); err == nil || sortOf(err) != "wrong" {
		t.Errorf("not a project's: %v", err)
	}
	for _, k := range Keys() {
		if k.many() && k.check == nil {
			continue // every word is a command
		}
		bad := []string{"[", "\x00"}
		if k.many() {
			bad = bad[:1]
		}
		err := Set(file, k, bad, false)
		if err == nil || sortOf(err) != "wrong" || !strings.HasPrefix(err.Error(), k.Name+" takes ") || hintOf(err) != "umbra config set "+k.Name+" "+k.shown() {
			t.Errorf("%s: %v, %s", k.Name, err, hintOf(err))
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a refused value made a file")
	}
	const broken = "capture:\n  max_files: many\n"
	if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Set(file, key("capture.max_bytes"), []string{"1"}, true); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a broken file is changed: %v", err)
	}
	if got, _ := os.ReadFile(file); string(got) != broken {
		t.Errorf("it is now %q", got)
	}
	if _, err := FindKey("capture.max_file"); err == nil || hintOf(err) != "did you mean capture.max_file_size?" {
		t.Errorf("an unknown key: %v, %s", err, hintOf(err))
	}
}

// TestSetTogether: of several keys that are set at the same time each is there.
func TestSetTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yml")
	words := map[string]string{"capture.max_files": "11", "watch.settle": "3s", "fork.guard": "false", "storage.keep_free": "1000000", "hooks.tools": "false"}
	for range 4 {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		errs := make(chan error, len(words))
		for name, word := range words {
			key, err := FindKey(name)
			if err != nil {
				t.Fatal(err)
			}
			go func() { errs <- Set(file, key, []string{word}, false) }()
		}
		for range words {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, word := range words {
			_, name, _ = strings.Cut(name, ".")
			if !strings.Contains(string(text), name+": "+word) {
				t.Errorf("%s is not %s in\n%s", name, word, text)
			}
		}
	}
}

// TestInForce: where each value comes from.
func TestInForce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yml")
	for name, text := range map[string]string{
		file:                            "capture:\n  max_files: 50\n  max_bytes: 2KiB\nfork:\n  root: /a\n",
		filepath.Join(dir, ProjectFile): "capture:\n  max_bytes: 4KiB\n  max_files: 20\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"UMBRA_FORK_ROOT": "/b"}
	list, err := InForce(file, dir, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range list {
		got[s.Key] = fmt.Sprintf("%s %v %d", s.Origin, s.Words, s.Line)
	}
	for key, want := range map[string]string{
		"capture.max_files": "project [20] 3", "capture.max_bytes": "user [2KiB] 3", "fork.root": "environment [/b] 0", "hooks.tools": "default [true] 0",
	} {
		if got[key] != want {
			t.Errorf("%s: %s, want %s", key, got[key], want)
		}
	}
	for _, project := range []bool{false, true} {
		if err := Check([]byte(Template(project)), project); err != nil {
			t.Errorf("the template is refused: %v", err)
		}
		if err := Check([]byte(strings.ReplaceAll(Template(project), "\n#", "\n")), project); err != nil {
			t.Errorf("the template without its comment signs is refused: %v", err)
		}
	}
}

// TestVariables: each key of one value has a variable by one rule, which counts
// more than the files; what makes no sense is said with the variable's name.
func TestVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yml")
	for _, k := range Keys() {
		if want := "UMBRA_" + strings.ToUpper(strings.Replace(k.Name, ".", "_", 1)); k.many() != (k.Variable() == "") || !k.many() && k.Variable() != want {
			t.Errorf("%s: %q", k.Name, k.Variable())
		}
		if k.many() {
			continue
		}
		value := k.example
		getenv := func(name string) string { return map[string]string{k.Variable(): value}[name] }
		list, err := InForce(file, "", getenv)
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		for _, s := range list {
			if is := s.Origin == OriginEnvironment; is != (s.Key == k.Name) || is && !slices.Equal(s.Words, []string{canonical(t, k)}) {
				t.Errorf("%s=%s: %s is %q from %s", k.Variable(), value, s.Key, s.Words, s.Origin)
			}
		}
		if OverridesWork(getenv) != (k.counts == working) {
			t.Errorf("%s: who does the work", k.Name)
		}
		if value = "["; k.Kind() == "text" && k.check == nil {
			continue // every text will do
		}
		c, err := Default().OverriddenBy(getenv)
		if err == nil || !strings.HasPrefix(err.Error(), k.Variable()+" takes ") || !strings.Contains(hintOf(err), "unset "+k.Variable()) || !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s=[: %v, %s", k.Variable(), err, hintOf(err))
		}
	}
}

// canonical is a key's example as it is shown.
func canonical(t *testing.T, k Key) string {
	t.Helper()
	v, err := k.parse([]string{k.example})
	if err != nil {
		t.Fatal(err)
	}
	var c Config
	k.put(&c, v)
	return k.words(c)[0]
}

// The table of keys stands in docs/configuration.md between these lines.
const (
	keysPage = "../../docs/configuration.md"
	begin    = "<!-- generated from settings.Keys: UMBRA_UPDATE_DOCS=1 go test ./missions/settings -run TestPage -->\n"
	end      = "<!-- end of what is generated -->"
)

// TestPage holds the documentation against the schema.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(keysPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the keys", keysPage)
	}
	want := before + begin + table() + end + after
	if want == string(page) {
		return
	}
	if os.Getenv("UMBRA_UPDATE_DOCS") == "" {
		t.Fatalf("%s shows other keys than Keys; UMBRA_UPDATE_DOCS=1 go test ./missions/settings -run TestPage writes:\n%s", keysPage, table())
	}
	if err := os.WriteFile(keysPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| key | default | what it is | where else |\n|---|---|---|---|\n")
	for _, k := range Keys() {
		text, err := yamlText(k, zeroOf(k))
		if err != nil {
			text = err.Error()
		}
		var where []string
		if k.Project {
			where = append(where, "`.umbra.yml`")
		}
		if name := k.Variable(); name != "" {
			where = append(where, "`$"+name+"`")
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s: %s | %s |\n", k.Name, text, k.Kind(), k.Help, strings.Join(where, ", "))
	}
	return b.String()
}

// TestNever: a duration after which something is removed may be never, as none is by default.
// No time at all is neither never nor at once: it is refused.
func TestNever(t *testing.T) {
	t.Parallel()
	key, err := FindKey("retention.trash")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"": "never", "  trash: Never": "never", "  trash: 720h": "30d"} {
		c := Default()
		if _, err := readConfig([]byte("retention:\n"+text+"\n"), Keys(), &c); err != nil || key.value(c) != want {
			t.Errorf("%q is %v, not %s: %v", text, key.value(c), want, err)
		}
		if (c.Retention.Trash == 0) != (want == "never") {
			t.Errorf("%q is %d", text, c.Retention.Trash)
		}
	}
	for _, text := range []string{"0", "0s"} {
		c := Default()
		if _, err := readConfig([]byte("retention:\n  trash: "+text+"\n"), Keys(), &c); err == nil || !strings.Contains(err.Error(), "or never") {
			t.Errorf("%s is taken for a time: %v", text, err)
		}
	}
}
