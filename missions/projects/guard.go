package projects

// maxForkAncestors bounds how far up the guard looks for whose copy a fork is.
const maxForkAncestors = 64

// ForkAncestors are the missions that a fork comes from, the nearest first, those in
// the trash too: their workspaces may be there still.
func (d *Desk) ForkAncestors(m *Mission) (list []*Mission) {
	for at := m; at.Parent != nil && len(list) < maxForkAncestors; {
		up, err := d.LoadMissionOrRemoved(m.Project, at.Parent.Mission)
		if err != nil {
			return list
		}
		list, at = append(list, up), up
	}
	return list
}
