ALTER TABLE "answers" ADD COLUMN "claimed_by" text;--> statement-breakpoint
ALTER TABLE "answers" ADD COLUMN "begun" text;