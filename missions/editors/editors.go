// Package editors has what Umbra gives to editors: the files of a plugin each, and
// where they go. It reads and writes nothing. The plugins call umbra hook EDITOR
// save FILE… and umbra hook EDITOR leave DIR, without waiting, and umbra's other
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

//go:embed vim nvim emacs vscode
var plugins embed.FS

// place is what the plugins' files have where umbra's path goes, as a string.
const place = "@umbra@"

// Names are the editors.
func Names() []string { return []string{"vim", "nvim", "emacs", vscode} }

// User is where a user's files are.
type User struct {
	Home, ConfigHome, DataHome string            // absolute; the latter two "" for those below Home
	Exists                     func(string) bool // a file or directory
}

// Plugin is an editor's plugin, as it is for one umbra, where one of the editor's
// installations looks for it.
type Plugin struct {
	Dir   string // where it is; nothing else is there
	Above string // directories below this one may be Umbra's making
	Needs string // the directory without which there is no such editor; "" is none
	// Lists are the files by which the editor knows its plugins, and which are
	// changed with them; they are the editor's, and need not be there.
	Lists []List
	Files []File
	name  string
}

// List is a file of an editor's in which its plugins are entered.
type List struct {
	Path string // absolute
	// Entered reports whether the plugin is known by what the list holds. An error
	// says why it can't be told.
	Entered func(list []byte) (bool, error)
	// With and Without are the list with the plugin known and not known by it, and
	// all else as it is; nil is no file. A list that is as it should be is returned
	// as it is.
	With, Without func(list []byte) ([]byte, error)
}

// File is a file of a plugin.
type File struct {
	Path    string // absolute
	Content []byte
}

// Own reports whether a file is as Umbra, of whatever version, has written it
// where one of the plugin's goes.
func (p Plugin) Own(content []byte) bool {
	last := max(bytes.LastIndex(content, []byte("\n"+comment(p.name)+lastWords)), bytes.LastIndex(content, []byte(","+lastMember)))
	if last < 0 || !p.Claimed(content) {
		return false
	}
	if content[last] == ',' {
		return string(content[last:]) == lastOfJSON(content[:last])
	}
	return string(content[last+1:]) == lastLine(p.name, content[:last+1])
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

// lastMember is lastWords where there are no comments: in JSON.
const lastMember = "\n  \"//\": \"" + lastWords

func lastOfJSON(above []byte) string {
	sum := sha256.Sum256(above)
	return "," + lastMember + hex.EncodeToString(sum[:8]) + "\"\n}\n"
}

// signed is a file of a plugin with a last line that says whether it was changed.
func signed(editor, path string, text []byte) []byte {
	if object, ok := bytes.CutSuffix(text, []byte("\n}\n")); ok && filepath.Ext(path) == ".json" {
		return append(object, lastOfJSON(object)...)
	}
	return append(text, lastLine(editor, text)...)
}

// comment is what a comment begins with in an editor's language.
func comment(editor string) string {
	switch editor {
	case vscode:
		return "// "
	case "nvim":
		return "-- "
	case "emacs":
		return ";; "
	}
	return "\" "
}

// Find is the plugin of an editor that calls the umbra at a path, once for each of
// its installations, and at least once; false if there is no such editor.
func Find(name string, user User, umbra string) ([]Plugin, bool, error) {
	if !slices.Contains(Names(), name) {
		return nil, false, nil
	}
	if strings.ContainsFunc(umbra, unicode.IsControl) {
		return nil, true, fmt.Errorf("the path of umbra, %q, can't be written in a plugin", umbra)
	}
	var list []Plugin
	if name == vscode {
		list = user.codes()
	} else {
		dir, above := user.placeOf(name)
		list = []Plugin{{Dir: dir, Above: above}}
	}
	for i := range list {
		list[i].name = name
		if err := list[i].fill(umbra); err != nil {
			return nil, true, err
		}
	}
	return list, true, nil
}

// fill gives a plugin its files.
func (p *Plugin) fill(umbra string) error {
	return fs.WalkDir(plugins, p.name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := plugins.ReadFile(path)
		text = bytes.ReplaceAll(text, []byte(place), []byte(quoted(umbra)))
		p.Files = append(p.Files, File{
			Path:    filepath.Join(p.Dir, strings.TrimPrefix(path, p.name)),
			Content: signed(p.name, path, text),
		})
		return err
	})
}

// quoted is a string as all of the plugins' languages have it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// data is where a user's programs keep theirs.
func (u User) data() string {
	if u.DataHome == "" {
		return filepath.Join(u.Home, ".local", "share")
	}
	return u.DataHome
}

// placeOf is where an editor looks for plugins by itself.
func (u User) placeOf(editor string) (dir, above string) {
	config, data := u.ConfigHome, u.data()
	if config == "" {
		config = filepath.Join(u.Home, ".config")
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
