package missions

import "context"

// A fitting is what umbra hooks installs that is not an agent's: for an editor,
// or for Git. What it finds that is not Umbra's it leaves alone, and says so.
type fitting interface {
	install() (changed bool, err error)
	uninstall() (changed bool, err error)
	state(r *HooksResult) error
}

// fitting finds what a request names; nil is an agent's, or nothing.
func (l *Local) fitting(ctx context.Context, r HooksRequest) (fitting, error) {
	if r.Name != hintGit {
		return l.editorFitting(r)
	}
	f, err := l.gitFitting(ctx, r)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// fit does something with a fitting, and says how it is then.
func fit(f fitting, r HooksRequest, do func(fitting) (bool, error), err error) (HooksResult, error) {
	result := HooksResult{Name: r.Name}
	if err == nil && do != nil {
		result.Changed, err = do(f)
	}
	if err != nil {
		return HooksResult{}, err
	}
	return result, f.state(&result)
}
