package editors

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlugins puts together each editor's plugin for an umbra in an odd place.
func TestPlugins(t *testing.T) {
	user := User{Home: "/home/ada", Exists: func(string) bool { return false }}
	for _, name := range Names() {
		list, known, err := Find(name, user, `/opt/my "tools\umbra`)
		if err != nil || !known || len(list) != 1 || len(list[0].Files) < 2 {
			t.Fatalf("%s: %+v %v %v", name, list, known, err)
		}
		p := list[0]
		called := 0
		for _, f := range p.Files {
			if !strings.HasPrefix(f.Path, p.Dir+"/") || !p.Own(f.Content) || bytes.Contains(f.Content, []byte(place)) {
				t.Errorf("%s: %s is not below %s, not known as Umbra's, or not whole", name, f.Path, p.Dir)
			}
			for _, changed := range [][]byte{append(slices.Clone(f.Content), "x\n"...), append([]byte("x\n"), f.Content...), bytes.TrimSuffix(f.Content, []byte("\n"))} {
				if p.Own(changed) || !p.Claimed(changed) {
					t.Errorf("%s: %s with a change of its user's is taken for Umbra's", name, f.Path)
				}
			}
			called += bytes.Count(f.Content, []byte(`"/opt/my \"tools\\umbra"`))
		}
		if called != 1 {
			t.Errorf("%s names umbra %d times", name, called)
		}
		if p.Own([]byte("somebody else's")) || p.Claimed([]byte("somebody else's")) || !strings.HasPrefix(p.Dir, p.Above+"/") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if _, known, err := Find("ed", user, "/umbra"); known || err != nil {
		t.Errorf("ed: %v %v", known, err)
	}
	if _, _, err := Find("vim", user, "/a\nb"); err == nil {
		t.Error("a path of two lines is a string of one")
	}
}

// TestPlaces finds where each editor looks, as its user has set it up.
func TestPlaces(t *testing.T) {
	const vim, emacs = "pack/umbra/start/umbra", "elpa/umbra-1.0"
	for _, c := range []struct {
		editor, config, data string
		there                []string
		dir, above           string
	}{
		{"vim", "", "", nil, "/h/.vim/" + vim, "/h"},
		{"vim", "", "", []string{"/h/.config/vim/vimrc"}, "/h/.config/vim/" + vim, "/h/.config/vim"},
		{"vim", "/c", "", []string{"/c/vim/vimrc", "/h/.vim"}, "/h/.vim/" + vim, "/h"},
		{"vim", "/c", "", []string{"/c/vim/vimrc", "/h/.vimrc"}, "/h/.vim/" + vim, "/h"},
		{"nvim", "", "", nil, "/h/.local/share/nvim/site/" + vim, "/h/.local/share"},
		{"nvim", "", "/d", nil, "/d/nvim/site/" + vim, "/d"},
		{"emacs", "", "", nil, "/h/.emacs.d/" + emacs, "/h"},
		{"emacs", "", "", []string{"/h/.config/emacs"}, "/h/.config/emacs/" + emacs, "/h/.config/emacs"},
		{"emacs", "/c", "", []string{"/c/emacs", "/h/.emacs"}, "/h/.emacs.d/" + emacs, "/h"},
		{"emacs", "/c", "", []string{"/c/emacs", "/h/.emacs.d"}, "/h/.emacs.d/" + emacs, "/h"},
	} {
		user := User{Home: "/h", ConfigHome: c.config, DataHome: c.data, Exists: func(path string) bool { return slices.Contains(c.there, path) }}
		list, _, err := Find(c.editor, user, "/umbra")
		if err != nil {
			t.Fatal(err)
		}
		p := list[0]
		if filepath.ToSlash(p.Dir) != c.dir || filepath.ToSlash(p.Above) != c.above {
			t.Errorf("%+v: %s below %s", c, p.Dir, p.Above)
		}
	}
}
