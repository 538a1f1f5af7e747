package gitstore

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/uuid"
)

// RefName is the full name of a ref of the shadow repository. Only the
// namespaces below exist; they are siblings, since a ref cannot have both a
// value and children. Build one with the constructors, read one with
// ParseRefName; every method of Store refuses an invalid one.
type RefName string

// RefKind tells the namespaces apart.
type RefKind string

const (
	// RefAgent is refs/agents/<mission-id>: the snapshots of a mission.
	RefAgent RefKind = "refs/agents/"
	// RefRecord is refs/records/<mission-id>: the chain of its records.
	RefRecord RefKind = "refs/records/"
	// RefHead is refs/heads/<mission name>: symbolic, to refs/agents.
	RefHead RefKind = "refs/heads/"
	// RefPin is refs/pins/<name>: a pinned snapshot.
	RefPin RefKind = "refs/pins/"
	// RefKeep is refs/keep/<snapshot>: the record of a pinned snapshot, or of one that
	// is lost itself.
	RefKeep RefKind = "refs/keep/"
	// RefBefore is refs/before/<commit>: the newest commit that is left of those
	// before the commit's parent, which is lost.
	RefBefore RefKind = "refs/before/"
	// RefTrashAgent is refs/trash/agents/<mission-id>: a removed mission.
	RefTrashAgent RefKind = "refs/trash/agents/"
	// RefTrashRecord is refs/trash/records/<mission-id>: its records.
	RefTrashRecord RefKind = "refs/trash/records/"
	// RefFetchedAgent is refs/fetched/agents/<remote>/<mission-id>: the snapshots of a
	// mission as they were fetched.
	RefFetchedAgent RefKind = "refs/fetched/agents/"
	// RefFetchedRecord is refs/fetched/records/<remote>/<mission-id>: its records.
	RefFetchedRecord RefKind = "refs/fetched/records/"
)

// RefKinds returns every namespace of the shadow repository.
func RefKinds() []RefKind {
	return []RefKind{RefAgent, RefRecord, RefHead, RefPin, RefKeep, RefBefore, RefTrashAgent, RefTrashRecord, RefFetchedAgent, RefFetchedRecord}
}

// UnbornHead is where HEAD points: no mission's name can start with "_".
const UnbornHead = "refs/heads/_none"

// maxRefComponent is the longest last component that leaves room for ".lock" in
// a file name of 255 bytes.
const maxRefComponent = 200

// InvalidRefNameError is returned for a name outside Umbra's namespaces, or
// malformed within one.
type InvalidRefNameError struct{ Name, Reason string }

func (e *InvalidRefNameError) Error() string {
	return fmt.Sprintf("%q is not a ref of Umbra's: %s", e.Name, e.Reason)
}

// AgentRef names the snapshots of the mission with this id (a UUID).
func AgentRef(missionID string) RefName { return RefName(string(RefAgent) + missionID) }

// RecordRef names the records of the mission with this id (a UUID).
func RecordRef(missionID string) RefName { return RefName(string(RefRecord) + missionID) }

// HeadRef is the symbolic ref that shows a mission by its name.
func HeadRef(missionName string) RefName { return RefName(string(RefHead) + missionName) }

// PinRef names a pinned snapshot.
func PinRef(pin string) RefName { return RefName(string(RefPin) + pin) }

// KeepRef keeps the record of a pinned snapshot reachable.
func KeepRef(snapshot ID) RefName { return RefName(string(RefKeep) + snapshot.String()) }

// BeforeRef keeps what came before a commit whose parent is lost.
func BeforeRef(commit ID) RefName { return RefName(string(RefBefore) + commit.String()) }

// TrashAgentRef names the snapshots of a removed mission.
func TrashAgentRef(missionID string) RefName { return RefName(string(RefTrashAgent) + missionID) }

// TrashRecordRef names the records of a removed mission.
func TrashRecordRef(missionID string) RefName { return RefName(string(RefTrashRecord) + missionID) }

// FetchedAgentRef names the snapshots of a mission that was fetched from a remote.
func FetchedAgentRef(remote, missionID string) RefName {
	return RefName(string(RefFetchedAgent) + remote + "/" + missionID)
}

// FetchedRecordRef names the records of a mission that was fetched from a remote.
func FetchedRecordRef(remote, missionID string) RefName {
	return RefName(string(RefFetchedRecord) + remote + "/" + missionID)
}

// ParseRefName accepts exactly the names that the constructors give for valid
// arguments.
func ParseRefName(s string) (RefName, error) {
	name := RefName(s)
	if err := name.Validate(); err != nil {
		return "", err
	}
	return name, nil
}

// Kind returns the namespace of r, or "" if it is in none.
func (r RefName) Kind() RefKind {
	for _, k := range RefKinds() {
		if strings.HasPrefix(string(r), string(k)) {
			return k
		}
	}
	return ""
}

// Arg returns what follows the namespace: a mission id, a name or a snapshot id.
func (r RefName) Arg() string { return strings.TrimPrefix(string(r), string(r.Kind())) }

// Mission returns the mission id of a ref of a mission, else "".
func (r RefName) Mission() string {
	switch r.Kind() {
	case RefAgent, RefRecord, RefTrashAgent, RefTrashRecord:
		return r.Arg()
	case RefFetchedAgent, RefFetchedRecord:
		_, id, _ := strings.Cut(r.Arg(), "/")
		return id
	}
	return ""
}

// Remote returns the remote of a ref of a fetched mission, else "".
func (r RefName) Remote() string {
	switch r.Kind() {
	case RefFetchedAgent, RefFetchedRecord:
		remote, _, _ := strings.Cut(r.Arg(), "/")
		return remote
	}
	return ""
}

// String is the name in full.
func (r RefName) String() string { return string(r) }

// Validate returns an *InvalidRefNameError unless r is well formed.
func (r RefName) Validate() error {
	kind, arg := r.Kind(), r.Arg()
	bad := func(reason string) error { return &InvalidRefNameError{Name: string(r), Reason: reason} }
	switch kind {
	case "":
		return bad("unknown namespace")
	case RefAgent, RefRecord, RefTrashAgent, RefTrashRecord:
		if !uuid.Is(arg) {
			return bad("the last part is not a UUID in lower case")
		}
	case RefFetchedAgent, RefFetchedRecord:
		remote, id, _ := strings.Cut(arg, "/")
		if reason := badRefComponent(remote); reason != "" {
			return bad(reason)
		}
		if !uuid.Is(id) {
			return bad("the last part is not a UUID in lower case")
		}
	case RefKeep, RefBefore:
		if len(arg) != 2*IDSize || !IsLowerHex(arg) {
			return bad("the last part is not the id of a commit")
		}
	case RefHead, RefPin:
		if reason := badRefComponent(arg); reason != "" {
			return bad(reason)
		}
	}
	return nil
}

// badRefComponent applies git-check-ref-format to one component, and what
// Umbra adds: ASCII letters, digits, ".", "_" and "-" only, begun by a letter
// or digit, so that a name is safe in every file system and never an option.
func badRefComponent(s string) string {
	switch {
	case s == "":
		return "the name is empty"
	case len(s) > maxRefComponent:
		return fmt.Sprintf("the name is longer than %d bytes", maxRefComponent)
	case strings.Contains(s, ".."):
		return `the name contains ".."`
	case strings.HasSuffix(s, ".lock"), strings.HasSuffix(s, "."):
		return `the name ends in "." or ".lock"`
	}
	for i := range len(s) {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return fmt.Sprintf("the name holds %q at byte %d", string(s[i]), i)
		}
	}
	return ""
}
