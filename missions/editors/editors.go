// Package editors has what Umbra gives to editors: the files of a plugin each, and
// where they go. It reads and writes nothing. The plugins call umbra hook EDITOR
// save FILE and umbra hook EDITOR leave DIR, without waiting, and umbra's other
// commands.
package editors

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
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

// Own reports whether a file is as Umbra, of whatever version, has written it
// where one of the plugin's goes.
func (p Plugin) Own(content []byte) bool {
	last := bytes.LastIndex(content, []byte("\n"+comment(p.name)+lastWords)) + 1
	return last > 0 && p.Claimed(content) && string(content[last:]) == lastLine(p.name, content[:last])
}

// Claimed reports whether Umbra wrote a file, which may have been changed since:
// each says how it is removed.
func (p Plugin) Claimed(content []byte) bool {
	return bytes.Contains(content, []byte("umbra hooks uninstall "+p.name))
}

// lastWords begin the last line of each file, behind a comment's sign. A sum of
// what is above them is what they end with.
const lastWords = "The end of Umbra's lines "

func lastLine(editor string, above []byte) string {
	sum := sha256.Sum256(above)
	return comment(editor) + lastWords + hex.EncodeToString(sum[:8]) + "\n"
}

// comment is what a comment begins with in an editor's language.
func comment(editor string) string {
	switch editor {
	case "nvim":
		return "-- "
	case "emacs":
		return ";; "
	}
	return "\" "
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
		text = bytes.ReplaceAll(text, []byte(place), []byte(quoted(umbra)))
		p.Files = append(p.Files, File{
			Path:    filepath.Join(p.Dir, strings.TrimPrefix(path, name)),
			Content: append(text, lastLine(name, text)...),
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
