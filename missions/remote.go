package missions

import (
	"context"
	"time"
)

// Remotes move missions to other machines, and bring those of others.
type Remotes interface {
	AddRemote(context.Context, AddRemoteRequest) (Remote, error)
	RemoveRemote(context.Context, RemoteRequest) (Remote, error)
	Remotes(context.Context, RemoteRequest) ([]Remote, error)
	Push(context.Context, PushRequest) (Transfer, error)
	Fetch(context.Context, FetchRequest) (Transfer, error)
	Export(context.Context, ExportRequest) (Transfer, error)
	ImportFile(context.Context, ImportFileRequest) (Transfer, error)
}

// Remote is a Git repository that the missions of a project are pushed to and fetched
// from: on another machine, or in a directory.
type Remote struct {
	Name string `json:"remote"`
	URL  string `json:"url"`            // without a password
	File bool   `json:"file,omitempty"` // it is a file that was imported: nothing is pushed to it
	// Project is what the project is called there: the refs are below
	// refs/umbra/<project>/.
	Project  string            `json:"project"`
	Missions []TransferMission `json:"missions"` // as they were pushed or fetched last
	// NoSessions says that conversations are left out of what is pushed there.
	NoSessions bool `json:"no_sessions,omitempty"`
	// KeyFile has the key that what is pushed there is encrypted with, "" if it is not; KeyMade
	// says that it was made just now.
	KeyFile string `json:"encrypt,omitempty"`
	KeyMade bool   `json:"key_made,omitempty"`
	// Auto is how the project's missions are pushed there by themselves, nil if they are not.
	Auto *AutomaticPush `json:"auto,omitempty"`
}

// AutomaticPush is how a project's missions are pushed to a remote by themselves.
type AutomaticPush struct {
	Project string    `json:"project"` // its name here
	Path    string    `json:"path"`    // where it is
	Remote  string    `json:"remote"`
	At      time.Time `json:"at,omitzero"`       // when all that was there had been looked at last
	Problem string    `json:"problem,omitempty"` // why not all of it has left
	Fix     string    `json:"fix,omitempty"`
}

// Automatic says what becomes of pushing by itself.
type Automatic string

// What a PushRequest may say of it.
const (
	AutomaticOn  Automatic = "on"
	AutomaticOff Automatic = "off"
)

// AddRemoteRequest adds a remote to the caller's project. The same one may be added again.
type AddRemoteRequest struct {
	Caller  Caller `json:"caller"`
	Name    string `json:"name"`
	URL     string `json:"url"`
	Project string `json:"project,omitempty"` // "" is the name of the project
	// NoSessions leaves conversations out of what is pushed there: what was asked, answered,
	// and run.
	NoSessions bool `json:"no_sessions,omitempty"`
	// KeyFile has the key that all that is pushed there is encrypted with, "" for none. It is
	// made if it is not there.
	KeyFile string `json:"encrypt,omitempty"`
}

// RemoteRequest names a remote of the caller's project; "" is all, or the only one.
type RemoteRequest struct {
	Caller Caller `json:"caller"`
	Name   string `json:"name,omitempty"`
}

// PushRequest sends missions to a remote: what it does not have of them. Nothing is
// overwritten there.
type PushRequest struct {
	Caller   Caller   `json:"caller"`
	Remote   string   `json:"remote,omitempty"`   // "" is the only one
	Missions []string `json:"missions,omitempty"` // none are all of the project
	// Allow are findings that are no secrets, RULE:FINGERPRINT. They are remembered.
	Allow []string `json:"allow,omitempty"`
	// Auto has all missions of the project be pushed to the remote by themselves from now on,
	// or no more. With AutomaticOff nothing is pushed.
	Auto Automatic `json:"auto,omitempty"`
}

// FetchRequest brings what a remote has of missions. They are REMOTE/MISSION here, to be
// read and forked.
type FetchRequest struct {
	Caller Caller `json:"caller"`
	Remote string `json:"remote,omitempty"` // "" is the only one
}

// ExportRequest writes moments, with all that was before them, to a file.
type ExportRequest struct {
	Caller  Caller   `json:"caller"`
	Moments []string `json:"moments"`         // one of each mission, of one project
	File    string   `json:"file"`            // relative to the caller's directory
	Allow   []string `json:"allow,omitempty"` // as in PushRequest
	// NoSessions leaves conversations out, as in AddRemoteRequest.
	NoSessions bool `json:"no_sessions,omitempty"`
	// KeyFile has the key that the file is encrypted with, NewKeyFile is where one is made for
	// it. Without both it is not encrypted.
	KeyFile    string `json:"encrypt,omitempty"`
	NewKeyFile string `json:"new_key,omitempty"`
}

// ImportFileRequest brings the missions of such a file. They are NAME/MISSION here.
type ImportFileRequest struct {
	Caller Caller `json:"caller"`
	File   string `json:"file"`
	Name   string `json:"name,omitempty"` // "" is made of the file's
	// KeyFile has the key of a file that is encrypted.
	KeyFile string `json:"key,omitempty"`
}

// Transfer is what became of missions that were pushed or fetched.
type Transfer struct {
	Remote string `json:"remote"` // its name, or the file that was written
	// NoSessions says that conversations were left out.
	NoSessions bool              `json:"no_sessions,omitempty"`
	Missions   []TransferMission `json:"missions"`
	// Left are refs of the remote that were not understood. They stay as they are.
	Left []LeftRef `json:"left,omitempty"`
	// Findings look like secrets in what was to leave. Nothing was moved where there are any.
	Findings []SecretFinding `json:"findings,omitempty"`
	// KeyFile has the key that the file which was written is encrypted with, "" if it is not;
	// KeyMade says that it was made just now.
	KeyFile string `json:"encrypt,omitempty"`
	KeyMade bool   `json:"key_made,omitempty"`
}

// SecretFinding is a text in what was to leave that looks like a secret. RULE:FINGERPRINT allows
// it, wherever it is.
type SecretFinding struct {
	Rule        string `json:"rule"`        // of what kind it looks
	Fingerprint string `json:"fingerprint"` // the same of the same text
	Mission     string `json:"mission"`
	Moment      string `json:"moment"`   // the first one that has it
	Path        string `json:"path"`     // of a file, "conversation", "message", or a document of the record
	Redacted    string `json:"redacted"` // its beginning
	Places      int    `json:"places"`   // in how many files, versions and pieces of conversation it is
}

// IsWhole reports whether everything was moved that there is.
func (t Transfer) IsWhole() bool {
	if len(t.Findings) > 0 {
		return false
	}
	for _, m := range t.Missions {
		if m.State == TransferDiverged || m.State == TransferRejected {
			return false
		}
	}
	return true
}

// TransferMission is what became of a mission. Objects and Bytes are what was moved for it
// alone; Bytes are of the contents, before they are compressed.
type TransferMission struct {
	Mission string        `json:"mission"` // its name
	ID      string        `json:"id"`
	State   TransferState `json:"state"`
	Objects int           `json:"objects"`
	Bytes   int64         `json:"bytes"`
	Reason  string        `json:"reason,omitempty"` // why it was not moved
}

// TransferState is what became of a mission.
type TransferState string

// The states of a mission that was pushed or fetched.
const (
	TransferNew      TransferState = "new"        // the other side did not have it
	TransferUpdated  TransferState = "updated"    // it has more of it now
	TransferSame     TransferState = "up_to_date" // it had all of it
	TransferDiverged TransferState = "diverged"   // both sides have what the other has not: both stay as they are
	TransferAhead    TransferState = "ahead"      // there is more of it here than was pushed
	TransferFetched  TransferState = "fetched"    // it is of another home
	TransferRejected TransferState = "rejected"   // the other side did not take it, or what it has is no mission
)

// LeftRef is a ref of a remote that is not understood, and why.
type LeftRef struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}
