// Package editors has what Umbra gives to editors: the files of a plugin each, and
// where they go. It reads and writes nothing. The plugins call umbra hook EDITOR
// save FILE and umbra hook EDITOR leave DIR, without waiting, and umbra's other
// commands.
package editors

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

//go:embed vim nvim emacs
var plugins embed.FS

// place is what the plugins' files have where umbra's path goes, as a string.
const place = "@umbra@"

// Names are the editors.
func Names() []string { return []string{"vim", "nvim", "emacs"} }

// User is where a user's files are.
type User struct {
	Home, ConfigHome, DataHome string            // absolute; the latter two "" for those below Home
	Exists                     func(string) bool // a file or directory
}

// Plugin is an editor's plugin, as it is for one umbra.
type Plugin struct {
	Dir   string // where it is; nothing else is there
	Above string // directories below this one may be Umbra's making
	Files []File
	name  string
}

// File is a file of a plugin.
type File struct {
	Path    string // absolute
	Content []byte
}

// Own reports whether Umbra wrote a file that is where one of the plugin's goes:
// each says how it is removed.
func (p Plugin) Own(content []byte) bool {
	return bytes.Contains(content, []byte("umbra hooks uninstall "+p.name))
}

// Find is the plugin of an editor that calls the umbra at a path; false if there
// is no such editor.
func Find(name string, user User, umbra string) (Plugin, bool, error) {
	if !slices.Contains(Names(), name) {
		return Plugin{}, false, nil
	}
	if strings.ContainsFunc(umbra, unicode.IsControl) {
		return Plugin{}, true, fmt.Errorf("the path of umbra, %q, can't be written in a plugin", umbra)
	}
	p := Plugin{name: name}
	p.Dir, p.Above = user.placeOf(name)
	err := fs.WalkDir(plugins, name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := plugins.ReadFile(path)
		p.Files = append(p.Files, File{
			Path:    filepath.Join(p.Dir, strings.TrimPrefix(path, name)),
			Content: bytes.ReplaceAll(text, []byte(place), []byte(quoted(umbra))),
		})
		return err
	})
	return p, true, err
}

// quoted is a string as all of the plugins' languages have it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// placeOf is where an editor looks for plugins by itself.
func (u User) placeOf(editor string) (dir, above string) {
	config, data := u.ConfigHome, u.DataHome
	if config == "" {
		config = filepath.Join(u.Home, ".config")
	}
	if data == "" {
		data = filepath.Join(u.Home, ".local", "share")
	}
	switch editor {
	case "nvim": // :help packages, stdpath("data")/site
		return filepath.Join(data, "nvim", "site", "pack", "umbra", "start", "umbra"), data
	case "emacs": // (emacs) Find Init, (elisp) Packaging
		mine := filepath.Join(u.Home, ".emacs.d")
		if xdg := filepath.Join(config, "emacs"); u.Exists(xdg) && !u.Exists(mine) && !u.Exists(filepath.Join(u.Home, ".emacs")) {
			return filepath.Join(xdg, "elpa", "umbra-1.0"), xdg
		}
		return filepath.Join(mine, "elpa", "umbra-1.0"), u.Home
	default: // :help packages, and xdg-base-dir of Vim 9.1
		if mine := filepath.Join(config, "vim"); u.Exists(filepath.Join(mine, "vimrc")) && !u.Exists(filepath.Join(u.Home, ".vim")) && !u.Exists(filepath.Join(u.Home, ".vimrc")) {
			return filepath.Join(mine, "pack", "umbra", "start", "umbra"), mine
		}
		return filepath.Join(u.Home, ".vim", "pack", "umbra", "start", "umbra"), u.Home
	}
}
