package shadow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/durable"
	"github.com/umbra-vcs/umbra/gitstore/uuid"
)

// FormatVersion is the version of the layout that this package writes and
// reads: refs, trailers, records, session chunks.
const FormatVersion = 1

// FormatError is returned by Open for a shadow repository of another version.
type FormatError struct {
	Dir         string
	Have, Known int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("shadow repository %s has format version %d; this Umbra knows %d", e.Dir, e.Have, e.Known)
}

// NotShadowError is returned by Open for a directory that is no shadow
// repository.
type NotShadowError struct{ Dir, Reason string }

func (e *NotShadowError) Error() string {
	return fmt.Sprintf("%s is not a shadow repository: %s", e.Dir, e.Reason)
}

// ignoredFsckIDs returns the message ids about .gitmodules, .gitattributes and
// other files of Git's own that a workspace may hold in odd form; and about the
// odd commits and trees of old or strange programs, which come along in packs
// that are borrowed from the user's repository and belong to no snapshot. Damage
// is never among them: what does not hash to its id, does not decode or is
// missing. They are those
// of git 2.38 (fsck.h of 2.38.3, with that series' security fixes); git dies of
// an id it does not know.
func ignoredFsckIDs() []string {
	return []string{
		"gitmodulesMissing", "gitmodulesBlob", "gitmodulesLarge", "gitmodulesName",
		"gitmodulesSymlink", "gitmodulesUrl", "gitmodulesPath", "gitmodulesUpdate",
		"gitmodulesParse",
		"gitattributesMissing", "gitattributesLarge", "gitattributesLineLength",
		"gitattributesBlob", "gitattributesSymlink",
		"gitignoreSymlink", "mailmapSymlink",
		"badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingAuthor",
		"missingCommitter", "missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate",
		"missingSpaceBeforeEmail", "multipleAuthors", "zeroPaddedDate",
		"duplicateEntries", "treeNotSorted",
	}
}

func configText(projectID string, version int) []byte {
	var b bytes.Buffer
	b.WriteString("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\tlogAllRefUpdates = false\n")
	b.WriteString("[gc]\n\tauto = 0\n\tpruneExpire = never\n")
	b.WriteString("[maintenance]\n\tauto = false\n[receive]\n\tautogc = false\n")
	b.WriteString("[fsck]\n")
	for _, id := range ignoredFsckIDs() {
		fmt.Fprintf(&b, "\t%s = ignore\n", id)
	}
	fmt.Fprintf(&b, "[umbra]\n\tproject = %s\n\tformat = %d\n", projectID, version)
	return b.Bytes()
}

func readConfig(path string) (*config.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cfg := config.New()
	if err := config.NewDecoder(bytes.NewReader(data)).Decode(cfg); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return cfg, nil
}

// identity reads the project's UUID and checks the format version.
func identity(dir string) (projectID string, err error) {
	cfg, err := readConfig(filepath.Join(dir, "config"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", &NotShadowError{Dir: dir, Reason: "it has no config"}
	}
	if err != nil {
		return "", err
	}
	section := cfg.Section("umbra")
	projectID = section.Option("project")
	if !uuid.Is(projectID) {
		return "", &NotShadowError{Dir: dir, Reason: "its config names no project"}
	}
	version, err := strconv.Atoi(section.Option("format"))
	if err != nil {
		return "", &NotShadowError{Dir: dir, Reason: "its config names no format version"}
	}
	if version != FormatVersion {
		return "", &FormatError{Dir: dir, Have: version, Known: FormatVersion}
	}
	return projectID, nil
}

// headText is what HEAD says: without it git takes the directory for none.
const headText = "ref: " + gitstore.UnbornHead + "\n"

// CheckConfig tells whether the repository in dir could be opened by a process
// that has not opened it yet, as the project's, and by git.
func CheckConfig(dir, projectID string) error {
	return errors.Join(checkConfig(dir, projectID), checkHead(dir))
}

func checkConfig(dir, projectID string) error {
	id, err := identity(dir)
	if err == nil && id != projectID {
		return &NotShadowError{Dir: dir, Reason: "its config names another project"}
	}
	return err
}

func checkHead(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "HEAD"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NotShadowError{Dir: dir, Reason: "it has no HEAD"}
	case err != nil:
		return err
	case string(data) != headText:
		return &NotShadowError{Dir: dir, Reason: "its HEAD is damaged"}
	}
	return nil
}

// RepairConfig writes the configuration and HEAD of a project's repository again,
// durably, where they are damaged, and keeps the damaged ones beside them. A
// configuration of another format version is left alone.
func RepairConfig(dir, projectID string) error {
	config, head := checkConfig(dir, projectID), checkHead(dir)
	var other *FormatError
	if errors.As(config, &other) {
		return config
	}
	if _, err := os.Stat(filepath.Join(dir, "objects")); errors.Is(err, fs.ErrNotExist) {
		return gitstore.Damaged("%s has no objects", dir)
	} else if err != nil {
		return err
	}
	if config != nil {
		if err := replaceDamaged(dir, "config", configText(projectID, FormatVersion)); err != nil {
			return err
		}
	}
	if head != nil {
		return replaceDamaged(dir, "HEAD", []byte(headText))
	}
	return nil
}

// replaceDamaged replaces a file of a repository by another, durably; what the old one
// held is kept beside it.
func replaceDamaged(dir, name string, data []byte) error {
	path, fresh := filepath.Join(dir, name), filepath.Join(dir, "tmp_"+name)
	old, err := disk.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path+".damaged", old, 0o600)
	}
	if err := gitstore.Ignoring(err, fs.ErrNotExist); err != nil {
		return err
	}
	var s durable.Syncer
	if err := gitstore.Ignoring(os.Remove(fresh), fs.ErrNotExist); err != nil {
		return err
	}
	if err := s.WriteFile(fresh, data, 0o600); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return s.Dir(dir)
}
