package editors

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCodes finds every VS Code that is there, and names its own where none is.
func TestCodes(t *testing.T) {
	for there, want := range map[string]string{
		"":                             "/h/.vscode",
		"/h/.vscode":                   "/h/.vscode",
		"/h/.vscode-oss":               "/h/.vscode-oss",
		"/h/.vscode-server /h/.vscode": "/h/.vscode /h/.vscode-server",
		"/h/.local/share/code-server":  "/h/.local/share/code-server",
	} {
		user := User{Home: "/h", Exists: func(path string) bool { return slices.Contains(strings.Fields(there), path) }}
		list, _, err := Find(vscode, user, "/umbra")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			if p.Above != p.Needs || p.Dir != p.Above+"/extensions/umbra-vcs.umbra" {
				t.Errorf("%q: %s below %s", there, p.Dir, p.Above)
			}
			got = append(got, p.Above)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("where %q is: %q, want %q", there, got, want)
		}
	}
}

// TestExtensionsList enters the extension in VS Code's list and takes it out, and
// leaves all else as it is, to the byte.
func TestExtensionsList(t *testing.T) {
	const other = `{"identifier":{"id":"a.b"},"version":"2.0.0","location":"a.b-2.0.0"}`
	dir := "/h/.vscode/extensions/umbra-vcs.umbra"
	for _, before := range []string{`[]`, " [ ]\n", "[" + other + "]", "[\n\t" + other + ",\n\t" + other + "\n]\n"} {
		with, err := listed([]byte(before), dir)
		if err != nil {
			t.Fatal(err)
		}
		var all []extensionAsRead
		if err := json.Unmarshal(with, &all); err != nil {
			t.Fatalf("%s: %v", with, err)
		}
		mine := all[len(all)-1]
		if mine.Identifier.ID != "umbra-vcs.umbra" || mine.Version != extensionVersion || mine.RelativeLocation != "umbra-vcs.umbra" || !strings.Contains(string(mine.Location), `"path":"`+dir+`"`) {
			t.Errorf("%s: %s", before, with)
		}
		if again, err := listed(with, dir); err != nil || !bytes.Equal(again, with) {
			t.Errorf("twice: %s %v", again, err)
		}
		without, err := unlisted(with, dir)
		if err != nil || squeezed(string(without)) != squeezed(before) {
			t.Errorf("%q became %q (%v)", before, without, err)
		}
		unpinned := bytes.Replace(with, []byte(`"pinned":true,`), nil, 1)
		if is, err := isListed(unpinned, dir); !is || err != nil {
			t.Errorf("one that is not pinned is not loaded: %v", err)
		}
		if again, err := listed(unpinned, dir); err != nil || !bytes.Equal(again, with) {
			t.Errorf("%s became %s (%v)", unpinned, again, err)
		}
		end := bytes.LastIndexByte(with, ']')
		twice := slices.Concat(with[:end], []byte(`,{"identifier":{"id":"umbra-vcs.umbra"},"version":"1.0.0","location":{"$mid":1,"path":"`+dir+`","scheme":"file"}}`), with[end:])
		if again, err := listed(twice, dir); err != nil || squeezed(string(again)) != squeezed(string(with)) {
			t.Errorf("%s became %s (%v)", twice, again, err)
		}
		if without, err := unlisted(twice, dir); err != nil || squeezed(string(without)) != squeezed(before) {
			t.Errorf("%s became %s (%v)", twice, without, err)
		}
		older := bytes.Replace(with, []byte(`"version":"`+extensionVersion), []byte(`"version":"0.0.1`), 1)
		if is, err := isListed(older, dir); is || err != nil {
			t.Errorf("an older one is this one: %v", err)
		}
		if newer, err := listed(older, dir); err != nil || !bytes.Equal(newer, with) {
			t.Errorf("%s became %s (%v)", older, newer, err)
		}
	}
	// As VS Code writes it, before another one.
	theirs := `[{"identifier":{"id":"umbra-vcs.umbra"},"version":"1.0.0","location":{"$mid":1,"path":"` + dir + `","scheme":"file"}}, ` + other + `]`
	if without, err := unlisted([]byte(theirs), dir); err != nil || string(without) != "[ "+other+"]" {
		t.Errorf("%s became %s (%v)", theirs, without, err)
	}
	for _, bad := range []string{`{}`, ``, `[`, `[{"identifier":{"id":"Umbra-VCS.umbra"},"version":"3.0.0","location":"umbra-vcs.umbra-3.0.0"}]`} {
		if with, err := listed([]byte(bad), dir); err == nil {
			t.Errorf("%s became %s", bad, with)
		}
		if without, err := unlisted([]byte(bad), dir); err == nil {
			t.Errorf("%s became %s", bad, without)
		}
	}
}

type extensionAsRead struct {
	extension
	Location json.RawMessage `json:"location"`
}

// squeezed is a list without the space in it where an entry was.
func squeezed(s string) string { return regexp.MustCompile(`\s+`).ReplaceAllString(s, "") }

// TestObsolete takes the mark away that would have the extension removed.
func TestObsolete(t *testing.T) {
	for before, want := range map[string]string{
		`{"umbra-vcs.umbra-1.0.0":true}`:              ``,
		`{"a.b-1":true,"umbra-vcs.umbra-0.9.0":true}`: `{"a.b-1":true}`,
		`{ "a.b-1": true }`:                           `{ "a.b-1": true }`,
	} {
		if after, err := unmarked([]byte(before)); err != nil || string(after) != want {
			t.Errorf("%s became %s (%v)", before, after, err)
		}
	}
	if _, err := unmarked([]byte("[")); err == nil {
		t.Error("what can't be read is taken for a list")
	}
}

// TestManifest holds the manifest to what VS Code demands of one: the fields that
// have to be there, and commands that the program has.
func TestManifest(t *testing.T) {
	list, _, err := Find(vscode, User{Home: "/h", Exists: func(string) bool { return false }}, "/umbra")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range list[0].Files {
		files[strings.TrimPrefix(f.Path, list[0].Dir+"/")] = string(f.Content)
	}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, []string{"extension.js", "package.json"}) {
		t.Fatalf("the extension is %q", got)
	}
	var m struct {
		Name, Publisher, Version, Main string
		Engines                        struct{ VSCode string }
		Metadata                       json.RawMessage `json:"__metadata"`
		ActivationEvents               []string
		Contributes                    struct {
			Commands      []struct{ Command, Title, Category string }
			Configuration struct {
				Properties map[string]struct{ Type, Scope string }
			}
		}
	}
	if err := json.Unmarshal([]byte(files["package.json"]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Publisher+"."+m.Name != extensionID || m.Version != extensionVersion || m.Main != "./extension.js" || !regexp.MustCompile(`^\^1\.\d+\.0$`).MatchString(m.Engines.VSCode) || len(m.ActivationEvents) == 0 {
		t.Errorf("%+v", m)
	}
	if want, err := json.Marshal(metadata()); err != nil || squeezed(string(m.Metadata)) != string(want) {
		t.Errorf("the manifest has %s, the list %s", m.Metadata, want)
	}
	for _, c := range m.Contributes.Commands {
		if !strings.HasPrefix(c.Command, "umbra.") || c.Title == "" || c.Category != "Umbra" {
			t.Errorf("%+v", c)
		}
	}
	// A folder's settings are somebody else's: they must not name a program to run.
	if c := m.Contributes.Configuration.Properties["umbra.command"]; c.Type != "string" || c.Scope != "machine" {
		t.Errorf("umbra.command is %+v", c)
	}
}
