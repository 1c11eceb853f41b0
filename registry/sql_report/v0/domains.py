"""What the tables are about: names of tables, columns, statuses and goods of each trade."""

SHOP = {
    "about": "a chain of shops for the home",
    "place": ("stores", "store"),
    "party": ("customers", "customer"),
    "group": ("categories", "category"),
    "item": ("products", "product"),
    "event": ("orders", "order"),
    "line": "order_lines",
    "payment": "payments",
    "review": ("reviews", "review"),
    "at": "ordered_at",
    "clock": "iso",
    "cancel": "status",
    "done": "delivered",
    "undone": ["cancelled", "returned", "open"],
    "goods": {
        "Lamps": ["Desk lamp", "Floor lamp, brass", "Night light", "Paper lantern"],
        "Kitchen": ["Bread knife", "Cast-iron pan", "Colander", "Measuring jug, 1 l"],
        "Bath": ["Bath mat", "Soap dish", "Towel, large", "Towel, small"],
        "Garden": ["Bird table", "Hand rake", "Planter", "Watering can"],
        "Textiles": ["Cushion", "Linen curtain", "Table cloth", "Wool blanket"],
        None: ["Gift wrapping", "Voucher booklet"],
    },
}
CLINIC = {
    "about": "a group of outpatient clinics",
    "place": ("clinics", "clinic"),
    "party": ("patients", "patient"),
    "group": ("departments", "department"),
    "item": ("treatments", "treatment"),
    "event": ("visits", "visit"),
    "line": "visit_treatments",
    "payment": "receipts",
    "review": ("answers", "answer"),
    "at": "started_at",
    "clock": "epoch",
    "cancel": "status",
    "done": "completed",
    "undone": ["no_show", "cancelled", "planned"],
    "goods": {
        "Eyes": ["Eye test", "Lens fitting", "Pressure check", "Retina photo"],
        "Skin": ["Mole check", "Patch test", "Peeling, mild", "Wart removal"],
        "Teeth": ["Check-up", "Filling, small", "Root treatment", "Scaling"],
        "Movement": ["Back school", "Gait analysis", "Massage, 20 min", "Taping"],
        "Laboratory": ["Allergy panel", "Blood count", "Swab", "Thyroid panel"],
        None: ["Medical letter", "Travel advice"],
    },
}
THEATRE = {
    "about": "a company that plays in several theatres",
    "place": ("theatres", "theatre"),
    "party": ("members", "member"),
    "group": ("genres", "genre"),
    "item": ("plays", "play"),
    "event": ("bookings", "booking"),
    "line": "booked_seats",
    "payment": "transfers",
    "review": ("comments", "comment"),
    "at": "booked_at",
    "clock": "isoz",
    "cancel": "cancelled_at",
    "goods": {
        "Comedy": ["A Borrowed Hat", "Late, Again", "The Noisy Heir", "Two Left Shoes"],
        "Tragedy": ["Salt", "The Last Ferry", "Under Glass", "Winter, Unpaid"],
        "Dance": ["Blue Hour", "Counterweight", "Small Orbits", "Threads"],
        "Music": ["Brass at Noon", "Evening for Strings", "Songs, Unsent", "The Tin Choir"],
        "Children": ["Bear and Button", "Mind the Moon", "Nine Lost Socks", "The Paper Whale"],
        None: ["Backstage tour", "Open rehearsal"],
    },
}
HIRE = {
    "about": "a firm that hires out tools and vehicles",
    "place": ("depots", "depot"),
    "party": ("clients", "client"),
    "group": ("classes", "class"),
    "item": ("machines", "machine"),
    "event": ("rentals", "rental"),
    "line": "rental_lines",
    "payment": "bank_entries",
    "review": ("ratings", "rating"),
    "at": "picked_up_at",
    "clock": "epoch",
    "cancel": "cancelled_at",
    "goods": {
        "Earth": ["Auger", "Compactor", "Mini digger", "Trencher, 60 cm"],
        "Height": ["Ladder, 6 m", "Scaffold tower", "Scissor lift", "Trestle"],
        "Power": ["Battery bank", "Cable drum", "Generator, 5 kW", "Site light"],
        "Water": ["Dehumidifier", "Drain camera", "Pressure washer", "Sump pump"],
        "Transport": ["Cargo bike", "Hand cart", "Trailer", "Van, long"],
        None: ["Safety briefing", "Delivery"],
    },
}
SCHOOL = {
    "about": "an evening school with several campuses",
    "place": ("campuses", "campus"),
    "party": ("learners", "learner"),
    "group": ("subjects", "subject"),
    "item": ("courses", "course"),
    "event": ("enrolments", "enrolment"),
    "line": "enrolment_courses",
    "payment": "fees_paid",
    "review": ("surveys", "survey"),
    "at": "signed_at",
    "clock": "iso",
    "cancel": "cancelled_at",
    "goods": {
        "Languages": ["Finnish I", "Greek I", "Sign language", "Swahili, slow"],
        "Crafts": ["Basketry", "Bookbinding", "Pottery", "Wood, by hand"],
        "Numbers": ["Bookkeeping", "Fractions again", "Probability", "Statistics, gently"],
        "Body": ["Balance", "First aid", "Juggling", "Swimming"],
        "Stage": ["Choir", "Improvisation", "Lighting", "Speaking freely"],
        None: ["Library card", "Open evening"],
    },
}
GARAGE = {
    "about": "a chain of garages for bicycles and cars",
    "place": ("garages", "garage"),
    "party": ("owners", "owner"),
    "group": ("trades", "trade"),
    "item": ("services", "service"),
    "event": ("jobs", "job"),
    "line": "job_services",
    "payment": "till_entries",
    "review": ("marks", "mark"),
    "at": "opened_at",
    "clock": "isoz",
    "cancel": "status",
    "done": "handed over",
    "undone": ["withdrawn", "waiting"],
    "goods": {
        "Brakes": ["Brake bleed", "Cable swap", "Disc, front", "Pads"],
        "Wheels": ["Balancing", "Rim truing", "Spokes, set", "Tyre change"],
        "Electrics": ["Battery test", "Bulb set", "Loom repair", "Starter swap"],
        "Body": ["Dent, small", "Paint touch-up", "Rust stop", "Window seal"],
        "Engine": ["Belt change", "Filter, oil", "Plug set", "Timing check"],
        None: ["Loan bicycle", "Wash"],
    },
}
DOMAINS = {
    "shop": SHOP,
    "clinic": CLINIC,
    "theatre": THEATRE,
    "hire": HIRE,
    "school": SCHOOL,
    "garage": GARAGE,
}

PLACES = ["Aldwater", "Brookend", "Castlemoor", "Dunholm", "St Elm's", "Fairhaven", "Örby", "Zelic"]
FIRST_NAMES = """
Ada Björn Chipo Dina Emre Fay Goran Hana Ines Jonas Keiko Luca Mei Noor Olga Pavel Quinn Rosa Sami
Tara Uwe Vera Wim Yara Zoë
"""
LAST_NAMES = """
Abara Brandt Costa Diallo Eriksen Fuchs Gómez Hughes Ito Jansen Kowal Lind Moreau Novák O'Shea Papp
Rossi Sato Tembo Vidal Weiß Young
"""
FIRST, LAST = FIRST_NAMES.split(), LAST_NAMES.split()
