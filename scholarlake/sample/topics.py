"""The research topics of generated papers: each has methods, problems, objects, units, measures and venues of its own.

Words only. How they become titles and abstracts is in `text.py`. Phrases hold no character that JSON escapes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """One research topic. Eight methods, problems and objects each, so that titles can be numbered (see text.py)."""

    name: str
    field: str
    methods: tuple[str, ...]
    problems: tuple[str, ...]
    objects: tuple[str, ...]
    unit: str
    measures: tuple[str, ...]
    venues: tuple[str, ...]


def _topic(name: str, field: str, methods: str, problems: str, objects: str, unit: str, measures: str, venues: str) -> Topic:
    lists = [tuple(part.strip() for part in text.split("|")) for text in (methods, problems, objects, measures, venues)]
    assert all(len(found) == 8 for found in lists[:3]), name
    return Topic(name, field, lists[0], lists[1], lists[2], unit, lists[3], lists[4])


TOPICS: tuple[Topic, ...] = (
    _topic(
        "graph learning", "computer science",
        "graph neural networks|message passing|spectral clustering|random walk embeddings|graph transformers|contrastive pretraining|label propagation|hypergraph convolution",
        "link prediction|node classification|community detection|influence maximization|graph compression|anomaly ranking|subgraph matching|temporal edge forecasting",
        "citation networks|social networks|knowledge graphs|road networks|payment graphs|protein interaction graphs|recommendation graphs|hyperlink collections",
        "nodes", "F1 score|mean reciprocal rank|modularity", "Journal of Network Learning|Conference on Graphs and Data|Transactions on Relational Mining",
    ),
    _topic(
        "machine translation", "computer science",
        "attention decoders|back-translation|subword segmentation|multilingual pretraining|phrase tables|syntactic reordering|distilled encoders|retrieval augmented decoding",
        "low-resource translation|document translation|terminology transfer|quality estimation|morphological agreement|speech translation|zero-shot transfer|domain adaptation",
        "parallel corpora|parliament transcripts|subtitle collections|medical leaflets|patent claims|agglutinative languages|code-switched dialogue|literary prose",
        "sentence pairs", "BLEU|character F-score|word error rate", "Computational Translation Letters|Meeting on Multilingual Language Processing|Journal of Corpus Linguistics and Translation",
    ),
    _topic(
        "image segmentation", "computer science",
        "convolutional encoders|vision transformers|active contours|superpixel pooling|deformable attention|diffusion decoders|graph cuts|dilated filters",
        "instance segmentation|boundary refinement|occlusion handling|saliency estimation|panoptic parsing|shadow removal|interactive annotation|depth completion",
        "street scenes|aerial photographs|retinal scans|microscopy slides|underwater footage|indoor panoramas|crop imagery|surgical videos",
        "images", "intersection over union|Dice coefficient|boundary F-score", "Visual Computing Review|Symposium on Image Understanding|Pattern and Vision Letters",
    ),
    _topic(
        "database systems", "computer science",
        "learned indexes|columnar execution|log-structured merging|optimistic concurrency|adaptive partitioning|vectorised joins|bitmap filters|cost-based rewriting",
        "query optimisation|crash recovery|cardinality estimation|transaction isolation|cache eviction|schema migration|workload forecasting|duplicate detection",
        "key-value stores|data warehouses|spatial databases|streaming engines|multi-tenant clouds|provenance archives|ledger databases|time-series stores",
        "queries", "throughput|tail latency|write amplification", "Data Engineering Bulletin|Conference on Very Big Tables|Transactions on Storage Engines",
    ),
    _topic(
        "cryptography", "computer science",
        "lattice reductions|zero-knowledge proofs|homomorphic encryption|secret sharing|oblivious transfer|hash-based signatures|garbled circuits|isogeny walks",
        "key exchange|ballot privacy|side-channel leakage|ciphertext malleability|threshold signing|private set intersection|password recovery|protocol verification",
        "embedded controllers|blockchain wallets|messaging protocols|smart meters|cloud enclaves|voting machines|vehicle gateways|certificate logs",
        "key pairs", "proof size|signing time|advantage bound", "Annals of Applied Cryptology|Workshop on Provable Security|Journal of Secrecy",
    ),
    _topic(
        "string theory", "physics",
        "conformal bootstrap|matrix models|holographic renormalisation|toric geometry|worldsheet instantons|localisation techniques|spinning amplitudes|orbifold constructions",
        "moduli stabilisation|black hole entropy|anomaly cancellation|brane intersection|mirror symmetry|entanglement growth|flux compactification|supersymmetry breaking",
        "Calabi-Yau threefolds|anti-de Sitter space|heterotic vacua|topological strings|supergravity backgrounds|little string theories|tensionless limits|quiver gauge theories",
        "vacua", "central charge|tadpole bound|free energy", "Strings and Fields|Journal of Mathematical Gravity|High Energy Theory Letters",
    ),
    _topic(
        "condensed matter", "physics",
        "density matrix renormalisation|angle-resolved photoemission|neutron scattering|dynamical mean-field theory|scanning tunnelling microscopy|quantum Monte Carlo|pump-probe spectroscopy|tight-binding fits",
        "superconducting pairing|charge density order|magnetic frustration|topological transport|spin liquid formation|phonon softening|metal-insulator transition|moire reconstruction",
        "cuprate crystals|twisted bilayers|kagome magnets|iron pnictides|quantum wires|heavy fermion compounds|Weyl semimetals|spin ladders",
        "samples", "critical temperature|gap magnitude|residual resistivity", "Solid State Frontiers|Quantum Matter Reports|Journal of Correlated Electrons",
    ),
    _topic(
        "astrophysics", "physics",
        "radial velocity surveys|gravitational lensing|spectral energy fitting|hydrodynamic simulations|transit photometry|pulsar timing|integral field spectroscopy|stellar population synthesis",
        "dark matter mapping|planet detection|star formation quenching|accretion variability|reionisation history|supernova classification|metallicity gradients|gravitational wave localisation",
        "dwarf galaxies|hot Jupiters|globular clusters|active galactic nuclei|neutron star binaries|cosmic voids|protoplanetary discs|quasar absorbers",
        "targets", "signal-to-noise ratio|stellar mass|redshift error", "Sky Survey Journal|Monthly Reports on Stars|Galaxies and Cosmology",
    ),
    _topic(
        "quantum computing", "physics",
        "variational circuits|surface codes|dynamical decoupling|pulse shaping|randomised benchmarking|tensor network decoding|measurement-based schemes|parametric couplers",
        "error mitigation|state preparation|gate calibration|phase estimation|readout discrimination|entanglement distillation|leakage suppression|circuit compilation",
        "superconducting qubits|trapped ions|neutral atom arrays|photonic chips|spin qubits|bosonic modes|color centres|hybrid processors",
        "qubits", "gate fidelity|logical error rate|coherence time", "Quantum Devices|Journal of Quantum Algorithms|Qubits and Circuits",
    ),
    _topic(
        "gene regulation", "biology",
        "chromatin profiling|single-cell sequencing|reporter assays|CRISPR interference|enhancer tiling|motif scanning|nascent transcript capture|chromosome conformation capture",
        "enhancer activation|promoter pausing|lineage commitment|dosage compensation|transcription bursting|silencer mapping|imprinting maintenance|splice site choice",
        "hematopoietic stem cells|Drosophila embryos|zebrafish fins|neural crest cells|yeast colonies|mouse oocytes|intestinal organoids|regenerating axolotl limbs",
        "loci", "fold change|accessibility score|expression variance", "Genome Control|Journal of Regulatory Biology|Cells and Chromatin",
    ),
    _topic(
        "microbial ecology", "biology",
        "metagenomic binning|amplicon sequencing|stable isotope probing|chemostat cultures|phage enrichment|microfluidic isolation|metabolic modelling|metaproteomics",
        "nutrient cycling|biofilm assembly|antibiotic persistence|syntrophic exchange|viral predation|succession dynamics|methane oxidation|strain coexistence",
        "soil aggregates|coral mucus|hot springs|activated sludge|rice paddies|glacier forefields|gut communities|deep-sea sediments",
        "isolates", "alpha diversity|growth yield|gene abundance", "Environmental Microbes|Journal of Microbial Communities|Microbiome Dynamics",
    ),
    _topic(
        "neuroscience", "biology",
        "two-photon imaging|optogenetic silencing|spike sorting|population decoding|patch-clamp recording|functional ultrasound|voltage indicators|connectomic reconstruction",
        "working memory|place coding|sleep consolidation|reward prediction|visual adaptation|motor planning|odour discrimination|synaptic plasticity",
        "hippocampal slices|prefrontal cortex|mushroom bodies|barrel cortex|cerebellar circuits|retinal ganglion cells|songbird nuclei|striatal interneurons",
        "neurons", "firing rate|decoding accuracy|latency", "Neural Circuits|Journal of Systems Neurophysiology|Brain and Behaviour Letters",
    ),
    _topic(
        "oncology", "medicine",
        "checkpoint inhibitors|adaptive radiotherapy|liquid biopsy|tumour organoids|kinase inhibitors|stereotactic ablation|antibody conjugates|neoadjuvant chemotherapy",
        "survival prognosis|metastatic relapse|toxicity reduction|margin assessment|drug resistance|response prediction|recurrence monitoring|dose escalation",
        "breast carcinoma|glioblastoma patients|hepatocellular tumours|paediatric leukaemia|pancreatic lesions|melanoma cohorts|lung adenocarcinoma|prostate biopsies",
        "patients", "hazard ratio|overall survival|progression-free survival", "Clinical Oncology Practice|Cancer Therapy Reports|Journal of Tumour Medicine",
    ),
    _topic(
        "cardiology", "medicine",
        "catheter ablation|echocardiographic strain|statin therapy|cardiac magnetic resonance|beta blockade|wearable electrocardiography|drug-eluting stents|remote haemodynamic monitoring",
        "arrhythmia recurrence|stroke prevention|ventricular remodelling|readmission risk|plaque regression|hypertension control|valve degeneration|perioperative bleeding",
        "atrial fibrillation clinics|heart failure wards|dialysis recipients|diabetic adults|endurance athletes|transplant recipients|rural hospitals|elderly inpatients",
        "participants", "ejection fraction|odds ratio|systolic pressure", "Heart and Vessels|Journal of Cardiac Outcomes|Circulatory Medicine",
    ),
    _topic(
        "epidemiology", "medicine",
        "cohort linkage|compartmental modelling|wastewater surveillance|Mendelian randomisation|contact tracing|serological surveys|spatial regression|capture-recapture estimation",
        "outbreak forecasting|vaccine effectiveness|excess mortality|asymptomatic transmission|health inequality|antimicrobial resistance spread|exposure misclassification|screening uptake",
        "refugee settlements|dengue districts|school communities|nursing homes|malaria villages|birth registries|occupational cohorts|border crossings",
        "households", "incidence rate|reproduction number|relative risk", "Population Health Methods|Journal of Outbreak Science|Field Epidemiology",
    ),
    _topic(
        "catalysis", "chemistry",
        "atomic layer deposition|operando spectroscopy|microkinetic modelling|zeolite templating|photoredox cycles|electrochemical impedance|isotopic labelling|density functional screening",
        "hydrogen evolution|carbon dioxide reduction|ammonia synthesis|selective oxidation|methane activation|catalyst deactivation|biomass upgrading|enantioselective coupling",
        "copper nanoparticles|single-atom alloys|perovskite oxides|metal-organic frameworks|nickel foams|ceria supports|enzyme mimics|cobalt phosphides",
        "catalysts", "turnover frequency|Faradaic efficiency|activation energy", "Surface Reactions|Journal of Catalytic Chemistry|Applied Catalysis Letters",
    ),
    _topic(
        "polymer chemistry", "chemistry",
        "ring-opening polymerisation|click ligation|reversible chain transfer|melt extrusion|solvent annealing|rheological mapping|neutron reflectometry|dynamic crosslinking",
        "self-healing|chemical recycling|micelle assembly|gas permeation|drug release|fibre spinning|glass transition control|biodegradation",
        "block copolymers|hydrogel films|conjugated polymers|bottlebrush elastomers|cellulose blends|polyester resins|vitrimer composites|ionic membranes",
        "formulations", "molar mass|dispersity|tensile strength", "Macromolecular Design|Soft Materials Chemistry|Polymers and Processing",
    ),
    _topic(
        "battery materials", "materials science",
        "sol-gel coating|impedance tomography|cryogenic microscopy|solid electrolytes|lithium metal plating|prelithiation|calendaring control|first-principles screening",
        "dendrite suppression|capacity fade|fast charging|thermal runaway|interface stabilisation|gas generation|state-of-health estimation|electrolyte decomposition",
        "graphite anodes|nickel-rich cathodes|sodium cells|silicon composites|lithium-sulphur pouches|redox flow stacks|garnet pellets|zinc-air cells",
        "cells", "capacity retention|Coulombic efficiency|ionic conductivity", "Electrochemical Storage|Journal of Battery Engineering|Energy Materials Advances",
    ),
    _topic(
        "climate dynamics", "earth science",
        "ensemble reanalysis|paleoclimate proxies|ocean general circulation|satellite altimetry|attribution statistics|convection-permitting runs|emergent constraints|isotope thermometry",
        "monsoon variability|sea level rise|drought attribution|jet stream shifts|aerosol forcing|permafrost thaw|ocean heat uptake|extreme precipitation",
        "Arctic shelves|Sahel rainfall records|tropical Pacific|Antarctic ice shelves|alpine catchments|monsoon Asia|North Atlantic overturning|boreal peatlands",
        "station records", "warming trend|root mean square error|explained variance", "Climate Processes|Journal of Atmospheric Change|Ocean and Ice Letters",
    ),
    _topic(
        "hydrology", "earth science",
        "tracer injection|distributed rainfall modelling|groundwater inversion|soil moisture retrieval|flood frequency analysis|recession fitting|lidar terrain mapping|data assimilation",
        "streamflow prediction|aquifer recharge|sediment transport|flash flood warning|irrigation scheduling|nitrate leaching|snowmelt timing|saltwater intrusion",
        "headwater basins|karst springs|semi-arid rivers|urban drainage networks|delta wetlands|volcanic islands|vineyard plots|reservoir cascades",
        "gauges", "Nash-Sutcliffe efficiency|discharge bias|infiltration rate", "Water Systems Research|Catchment Science|Journal of Hydrological Modelling",
    ),
    _topic(
        "labour economics", "economics",
        "difference-in-differences|matched employer records|regression discontinuity|structural search models|synthetic controls|field experiments|shift-share instruments|panel quantile regression",
        "minimum wage effects|gender pay gaps|job polarisation|migrant integration|unemployment duration|parental leave uptake|skill mismatch|union coverage decline",
        "manufacturing towns|gig platforms|public schools|apprenticeship schemes|garment factories|hospital staff|seasonal farms|call centres",
        "workers", "employment elasticity|earnings growth|separation rate", "Work and Wages|Journal of Applied Labour Studies|Economics of Employment",
    ),
    _topic(
        "cognitive psychology", "psychology",
        "eye tracking|diffusion modelling|dual-task designs|priming paradigms|experience sampling|pupil dilation|signal detection analysis|longitudinal surveys",
        "attention switching|false recall|reading fluency|moral judgement|numerical cognition|face recognition|habit formation|metacognitive confidence",
        "bilingual children|older adults|novice drivers|chess experts|university students|shift nurses|dyslexic readers|online volunteers",
        "trials", "reaction time|effect size|hit rate", "Mind and Memory|Journal of Cognitive Experiments|Psychology of Attention",
    ),
    _topic(
        "number theory", "mathematics",
        "sieve methods|modular symbols|p-adic integration|circle methods|Galois deformation|height pairings|trace formulas|exponential sums",
        "prime gaps|rational point counting|class number growth|zero-density estimates|Diophantine approximation|torsion bounds|reciprocity laws|partition congruences",
        "elliptic curves|quadratic fields|Shimura varieties|automorphic forms|cubic surfaces|function fields|cyclotomic towers|arithmetic progressions",
        "cases", "error exponent|conductor|rank bound", "Arithmetic Quarterly|Journal of Primes and Forms|Annals of Diophantine Geometry",
    ),
    _topic(
        "structural engineering", "engineering",
        "finite element updating|shake table testing|fibre reinforcement|base isolation|acoustic emission sensing|topology optimisation|pushover analysis|digital image correlation",
        "seismic retrofit|fatigue cracking|wind-induced vibration|progressive collapse|corrosion damage|fire resistance|buckling capacity|damage localisation",
        "masonry towers|cable-stayed bridges|timber frames|offshore jackets|precast slabs|steel connections|tunnel linings|concrete dams",
        "specimens", "drift ratio|load factor|crack width", "Structures and Hazards|Journal of Bridge Mechanics|Construction Safety Reports",
    ),
    _topic(
        "robotics", "engineering",
        "model predictive control|imitation learning|visual servoing|factor graph smoothing|impedance control|sampling-based planning|tactile sensing|whole-body optimisation",
        "grasp synthesis|terrain traversal|human handover|loop closure|swarm coverage|insertion assembly|collision avoidance|fault recovery",
        "quadruped robots|warehouse manipulators|underwater gliders|aerial vehicles|soft grippers|exoskeleton legs|orchard harvesters|surgical arms",
        "episodes", "success rate|tracking error|cycle time", "Autonomous Machines|Journal of Robot Motion|Field Robotics Letters",
    ),
    _topic(
        "urban sociology", "sociology",
        "participant observation|network surveys|archival coding|mobility traces|oral histories|sequence analysis|deliberative panels|neighbourhood audits",
        "residential segregation|gentrification pressure|social trust|informal housing|street commerce|school choice|collective efficacy|transit dependence",
        "port cities|public housing estates|night markets|border suburbs|shrinking towns|satellite cities|historic quarters|squatter settlements",
        "respondents", "dissimilarity index|response rate|odds of moving", "City and Society|Journal of Urban Communities|Housing and Neighbourhoods",
    ),
)

GIVEN_NAMES: tuple[str, ...] = tuple(
    "Ada Ahmed Aiko Alice Amara Ana Anders Anil Arjun Astrid Beatriz Bruno Carla Chen Clara Daniel Diego Dmitri Elena Emeka Emma Erik Fatima "
    "Felix Francesca Gabriel Grace Hana Hannah Hassan Ines Irina Ivan Jamal Jan Jin Jonas Jorge Julia Kofi Laila Lars Leila Lin Lucas Lucia "
    "Magnus Maria Marta Mei Mikhail Mina Mohammed Nadia Naomi Nikolai Nina Noor Oliver Olga Omar Paolo Petra Priya Rafael Ravi Rosa Samuel "
    "Sara Sofia Stefan Sven Tariq Tomas Uma Vera Victor Wei Yara Yuki Zofia Zoltan".split()
)

FAMILY_NAMES: tuple[str, ...] = tuple(
    "Abbott Achterberg Adeyemi Aguilar Akiyama Albrecht Almeida Andersson Arslan Bakker Banerjee Baptista Becker Benali Berglund Bianchi Blackwood "
    "Bogdanov Brandt Cabral Carvalho Castellano Chaudhry Christensen Coelho Dahlgren Dasgupta Delacroix Dimitrov Dlamini Dubois Eberhardt Eklund "
    "Eriksen Espinoza Fairchild Farouk Ferreira Fischer Fontaine Fujimoto Galvez Gauthier Gonzaga Grabowski Greenfield Guerrero Gupta Haddad "
    "Hakimi Hansen Hartmann Hayashi Heikkinen Herrera Hoffmann Holmberg Horvat Huang Hussein Ibrahim Iyer Jankowski Jensen Johansson Kamara "
    "Kapoor Karlsson Kaufmann Kawasaki Khalil Kowalski Krishnan Kruger Lefevre Lehtonen Lindqvist Lombardi Magnusson Mahmoud Marchetti Martinez "
    "Mbeki Mendoza Meyer Mikkelsen Moreau Morimoto Müller Nakamura Navarro Nguyen Nielsen Novak Nwosu Okafor Oliveira Olsen Orlova Osei "
    "Papadakis Park Pereira Petrov Popescu Quintero Ramirez Rasmussen Rinaldi Romano Rosenthal Rousseau Sandoval Sato Schneider Sharma Silva "
    "Sokolov Sorensen Strand Suzuki Takahashi Tanaka Torres Tran Ueda Vargas Vasquez Virtanen Volkov Wagner Watanabe Weber Wójcik Yamamoto "
    "Yilmaz Zhang Zimmermann".split()
)

PLACES: tuple[str, ...] = tuple(
    "Aarhus|Accra|Adelaide|Bergen|Bologna|Bremen|Cape Town|Chengdu|Coimbra|Dakar|Delft|Dresden|Dundee|Edmonton|Fukuoka|Galway|Genoa|Ghent|"
    "Graz|Hanoi|Hobart|Hyderabad|Izmir|Jakarta|Kampala|Kyoto|Lagos|Leeds|Lima|Lyon|Malmo|Mendoza|Montreal|Nairobi|Nantes|Oulu|Porto|"
    "Poznan|Pune|Quito|Recife|Riga|Rosario|Sendai|Seville|Taipei|Tartu|Trieste|Uppsala|Valencia|Vilnius|Wuhan|Xiamen|Zagreb".split("|")
)

ORGANISATIONS: tuple[str, ...] = (
    "University of {}", "{} Institute of Technology", "{} University Hospital", "Academy of Sciences, {}", "National Laboratory, {}", "{} State University",
)
