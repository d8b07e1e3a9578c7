--- Words the records are filled with: people, places, goods.
return {
  given = {
    "Maria", "Jonas", "Helene", "Piet", "Carla", "Oskar", "Renate", "Viktor", "Ingrid",
    "Paul",
    "Sabine", "Anton", "Elise", "Georg", "Nadja", "Ludwig", "Tessa", "Walter", "Bruno",
    "Frieda",
  },
  family = {
    "Keller", "Brandt", "Sommer", "Vogel", "Lindner", "Haas", "Winter", "Roth", "Jansen",
    "Maurer",
    "Pohl", "Ziegler", "Engel", "Dietrich", "Fuchs", "Neumann", "Albers", "Quast",
    "Ullmann", "Tanner",
  },
  place = {
    "Old Mill", "Harbour Gate", "North Yard", "Bad Hersfeld", "East Ramp", "Lower Hall",
    "River Dock",
    "Stone Court", "West Annex", "Upper Lane", "Grain Store", "Castle Square",
  },
  goods = {
    "Copper Valve", "Steel Hinge", "Oak Panel", "Glass Funnel", "Brass Clamp",
    "Rubber Seal",
    "Linen Strap", "Cast Wheel", "Pine Crate", "Zinc Bucket", "Felt Pad", "Silk Cord",
  },
  shade = {
    "amber", "blue", "crimson", "green", "ivory", "jade", "khaki", "lilac", "ochre",
    "pink", "red",
    "teal", "violet", "white",
  },
  letters = { "kx", "tr", "mb", "qa", "vn", "hd", "wf", "zu", "gp", "lc" },
  remark = {
    "The paperwork came in a blue folder.", "The usual contact was on leave.",
    "Ring the bell at the side door.", "A copy went to the archive.",
    "Nothing else was agreed.",
    "The gate closes early in winter.", "The last inspection found no fault.",
    "The form was filled in by hand.",
  },
}
