--- Words of another house, a town library and its museum: for testing that the simulated
--- model learns rules that were not at hand when it was written.
return {
  given = {
    "Amara", "Bjorn", "Chiara", "Dylan", "Esther", "Farid", "Greta", "Hamish", "Imogen",
    "Jorge",
    "Kirsten", "Liam", "Morag", "Nils", "Odette", "Pedro",
  },
  family = {
    "Ashworth", "Bell", "Calloway", "Drummond", "Eastman", "Fairfax", "Grimshaw",
    "Holloway",
    "Ibsen", "Jardine", "Kerr", "Lockhart", "Merrick", "Norris", "Osborne", "Prescott",
  },
  room = {
    "Tower Room", "Map Cabinet", "Reading Hall", "Print Cellar", "Long Gallery",
    "Glass House",
    "Quiet Corner", "Clock Loft",
  },
  title = {
    "Winter Tales", "Silent Tides", "Paper Birds", "Iron Garden", "Hollow Crown",
    "Distant Bells",
    "Amber Roads", "Second Spring",
  },
  subject = {
    "botany", "history", "music", "poetry", "sailing", "weaving", "chess", "optics",
    "falconry", "ethics",
  },
  letters = { "AX", "BR", "CT", "DN", "EL", "FW", "GO", "HY" },
  remark = {
    "The box was returned in good order.", "Please handle with gloves.",
    "See the card index.",
    "The lamp in the hall was replaced.",
  },
}
