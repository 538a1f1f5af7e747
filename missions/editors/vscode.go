package editors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// vscode is VS Code, and what is made of it: VSCodium, code-server, Cursor and the
// servers by which they work on other machines.
const vscode = "vscode"

// The extension, as its manifest has it. The former is its directory's name, too.
const (
	extensionID      = "umbra-vcs.umbra"
	extensionVersion = "1.0.0"
)

// codes are the installations of VS Code that a user has, by the directories in
// which they have their extensions: dataFolderName of product.json, with -server
// where it serves another machine, and code-server's own. Where there is none, VS
// Code's.
func (u User) codes() (list []Plugin) {
	bases := make([]string, 0, 12)
	for _, name := range []string{".vscode", ".vscode-insiders", ".vscode-oss", ".cursor", ".windsurf"} {
		bases = append(bases, filepath.Join(u.Home, name), filepath.Join(u.Home, name+"-server"))
	}
	bases = append(bases, filepath.Join(u.Home, ".vscode-server-insiders"), filepath.Join(u.Home, ".vscodium-server"),
		filepath.Join(u.Home, ".openvscode-server"), filepath.Join(u.data(), "code-server"))
	for _, base := range bases {
		if u.Exists(base) {
			list = append(list, codeIn(base))
		}
	}
	if list == nil {
		list = append(list, codeIn(bases[0]))
	}
	return list
}

// codeIn is the plugin of the installation that has its own in a directory.
func codeIn(base string) Plugin {
	extensions := filepath.Join(base, "extensions")
	p := Plugin{Dir: filepath.Join(extensions, extensionID), Above: base, Needs: base}
	p.Lists = []List{
		{
			// An extension that is marked here is removed at the next start.
			Path:    filepath.Join(extensions, ".obsolete"),
			Entered: func(list []byte) (bool, error) { m, err := marked(list); return !m, err },
			With:    unmarked,
			Without: unmarked,
		},
		{
			// The extensions of the default profile; those that are not in it are not
			// loaded. Where there is none yet, VS Code makes it of the folders it finds.
			Path:    filepath.Join(extensions, "extensions.json"),
			Entered: func(list []byte) (bool, error) { return isListed(list, p.Dir) },
			With:    func(list []byte) ([]byte, error) { return listed(list, p.Dir) },
			Without: func(list []byte) ([]byte, error) { return unlisted(list, p.Dir) },
		},
	}
	return p
}

// marks is what .obsolete holds: extensions, by id and version.
func marks(list []byte) (all map[string]json.RawMessage, own []string, err error) {
	if list == nil {
		return nil, nil, nil
	}
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, nil, errors.New("it is no object of JSON")
	}
	for name := range all {
		if strings.HasPrefix(name, extensionID+"-") {
			own = append(own, name)
		}
	}
	return all, own, nil
}

func marked(list []byte) (bool, error) {
	_, own, err := marks(list)
	return len(own) > 0, err
}

// unmarked is .obsolete without the extension; nil if nothing else is in it.
func unmarked(list []byte) ([]byte, error) {
	all, own, err := marks(list)
	if err != nil || len(own) == 0 {
		return list, err
	}
	for _, name := range own {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}

// extension is an entry of extensions.json: IStoredProfileExtension in VS Code's
// extensionsProfileScannerService.ts.
type extension struct {
	Identifier struct {
		ID string `json:"id"`
	} `json:"identifier"`
	Version          string         `json:"version"`
	Location         location       `json:"location"`
	RelativeLocation string         `json:"relativeLocation,omitempty"`
	Metadata         map[string]any `json:"metadata,omitempty"`
}

// location is a URI as VS Code writes it down.
type location struct {
	Mid    int    `json:"$mid"`
	Path   string `json:"path"`
	Scheme string `json:"scheme"`
}

// metadata is what VS Code notes of an extension: that it is pinned, so that nothing
// of that name takes its place from the marketplace, and for all profiles. The
// manifest has it too, as one that VS Code has unpacked. A VS Code that runs meanwhile
// enters the extension by itself all the same, without it (seen with 1.99.3).
func metadata() map[string]any {
	return map[string]any{"installedTimestamp": 1767225600000, "isApplicationScoped": true, "pinned": true, "source": "vsix"}
}

func entry(dir string) ([]byte, error) {
	e := extension{Version: extensionVersion, RelativeLocation: extensionID}
	e.Identifier.ID = extensionID
	e.Location = location{Mid: 1, Path: dir, Scheme: "file"}
	e.Metadata = metadata()
	return json.Marshal(e)
}

// span is where an entry stands in the list, with the comma that parts it from
// another.
type span struct {
	from, to int
	version  string
	pinned   bool // and for all profiles, as Umbra enters it
}

// find finds the extension's entry, the last if there are several. An error says why there can be none of its.
func find(list []byte, dir string) (at span, found bool, err error) {
	d := json.NewDecoder(bytes.NewReader(list))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return at, false, errors.New("it is no array of JSON")
	}
	for first := true; d.More(); first = false {
		before := int(d.InputOffset())
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return at, false, fmt.Errorf("it can't be read: %w", err)
		}
		var e struct {
			extension
			Location json.RawMessage `json:"location"` // an older VS Code has a string
		}
		if json.Unmarshal(raw, &e) != nil || !strings.EqualFold(e.Identifier.ID, extensionID) {
			continue
		}
		var its location
		if e.RelativeLocation != filepath.Base(dir) && (json.Unmarshal(e.Location, &its) != nil || its.Path != dir) {
			return at, false, fmt.Errorf("it has an extension %s %s that Umbra did not install", extensionID, e.Version)
		}
		pinned := e.Metadata["pinned"] == true && e.Metadata["isApplicationScoped"] == true
		at = span{from: before, to: int(d.InputOffset()), version: e.Version, pinned: pinned && (!found || at.pinned)}
		found = true
		if first { // the comma that parts it from the next one, if there is one
			if rest := bytes.TrimLeft(list[at.to:], " \t\r\n"); bytes.HasPrefix(rest, []byte(",")) {
				at.to = len(list) - len(rest) + 1
			}
		}
	}
	if _, err := d.Token(); err != nil {
		return at, false, fmt.Errorf("it can't be read: %w", err)
	}
	return at, found, nil
}

func isListed(list []byte, dir string) (bool, error) {
	if list == nil {
		return true, nil
	}
	at, found, err := find(list, dir)
	return found && at.version == extensionVersion, err
}

// listed is the list with the extension at its end.
func listed(list []byte, dir string) ([]byte, error) {
	at, found, err := find(list, dir)
	if list == nil || err == nil && found && at.version == extensionVersion && at.pinned {
		return list, nil
	}
	list, err = unlisted(list, dir)
	if err != nil {
		return nil, err
	}
	mine, err := entry(dir)
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(list, ']')
	head := bytes.TrimRight(list[:end], " \t\r\n")
	if head[len(head)-1] != '[' {
		mine = append([]byte(","), mine...)
	}
	return bytes.Join([][]byte{head, mine, list[len(head):]}, nil), nil
}

// unlisted is the list without it.
func unlisted(list []byte, dir string) ([]byte, error) {
	for list != nil {
		at, found, err := find(list, dir)
		if err != nil || !found {
			return list, err
		}
		list = bytes.Join([][]byte{list[:at.from], list[at.to:]}, nil)
	}
	return nil, nil
}
